// Tests the shortcut that finds the seconds of an iteration in the steady state by arithmetic. Compares these seconds
// with a replay of every execution.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "execute/arithmetic/replay.hpp"
#include "execute/arithmetic/unhindered.hpp"
#include "plan/structure.hpp"
#include "plan/text.hpp"
#include "support/campaign.hpp"
#include "support/random_plan.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {
namespace {

std::optional<double> unhindered(const Plan& plan) {
  check_structure(plan);
  return unhindered_iteration_s(PlanTables(plan));
}

/// Returns a plan whose body has a load and a computation. The computation takes 6 s. The load has a setup of 0.25 s,
/// takes 5 s on the link, and has a latency of 0.125 s.
Plan load_and_compute(const std::string& capacity, const std::string& load_waits) {
  return plan_from_text(R"(format: sluice-plan/1
name "two"
iterations 64
pool gpu capacity=)" + capacity +
                            R"(
pool host capacity=unlimited
link down bandwidth=8B/s
route host>gpu links=down setup=0.25s latency=0.125s
stream gpu.compute kind=compute device=gpu
stream gpu.down kind=copy device=gpu
tensor x class=input bytes=40
stage s
prologue:
body:
L on=gpu.down kind=load stage=0 micro_batch=0 moves=x route=host>gpu bytes=40 allocates=x@gpu)" +
                            load_waits +
                            R"(
F on=gpu.compute kind=forward stage=0 micro_batch=0 samples=1 samples_done=1 seconds=6 waits=L uses=x@gpu
epilogue:
)",
                        "two");
}

TEST_CASE(
    "a load and a computation that wait for each other have a period of the sum of both times") {
  CHECK(unhindered(load_and_compute("10kB", " waits=F~1")) == 5.25 + 0.125 + 6);
  // Now a load waits for the computation of two iterations ago. So the next input is loaded while the device computes,
  // and an iteration takes only the 6 s of the computation.
  CHECK(unhindered(load_and_compute("10kB", " waits=F~2")) == 6.0);
}

TEST_CASE("if memory may delay an action, the shortcut leaves the plan to the replay") {
  // A memory of 10 kB has room for the inputs of many iterations. A memory of 100 B has room for only two inputs of 40
  // B. This room is enough for the plan, but the shortcut cannot prove that.
  CHECK(unhindered(load_and_compute("10kB", " waits=F~1")));
  CHECK_FALSE(unhindered(load_and_compute("100B", " waits=F~1")));
  // A load takes 5.25 s, and a computation takes 6 s. If the loads do not wait for computations, more and more inputs
  // are loaded early until the memory is full.
  CHECK_FALSE(unhindered(load_and_compute("10kB", "")));
}

TEST_CASE("if a link or a memory is shared, the shortcut leaves the plan to the replay") {
  Plan plan = load_and_compute("10kB", " waits=F~1");
  plan.actions[1].flows = plan.actions[0].flows;  // the computation also reads over the link
  CHECK_FALSE(unhindered(plan));
  plan.actions[1].flows.clear();
  CHECK(unhindered(plan));
  plan.pools[1].owner.clear();
  plan.pools[1].capacity = 1'000'000;
  CHECK_FALSE(unhindered(plan));
}

TEST_CASE(
    "if a plan has few iterations, or waits for later or much earlier iterations, the shortcut leaves the plan to the "
    "replay") {
  Plan plan = load_and_compute("10kB", " waits=F~1");
  plan.iterations = 16;
  CHECK_FALSE(unhindered(plan));
  plan.iterations = 17;
  CHECK(unhindered(plan));
  CHECK_FALSE(unhindered(load_and_compute("10kB", " waits=F~5")));
  plan = load_and_compute("10kB", "");
  plan.actions[0].waits.push_back({1, 0});
  plan.actions[1].waits.clear();
  plan.actions[1].uses.clear();
  plan.actions[0].uses.push_back({0, 0});
  CHECK_FALSE(unhindered(plan));
}

/// Returns whether every action ends `seconds` later than in the iteration before. Checks only iterations 40 to 160 of
/// 200, which are far from the start and the end of the run.
bool repeats(const Plan& plan, const MemorySink& walked, double seconds, double margin) {
  std::map<std::pair<std::uint32_t, std::int64_t>, double> ends;
  for (const Span& span : walked.spans) ends[{span.action, span.iteration}] = span.end;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    for (std::int64_t i = 40; i < 160; ++i)
      if (std::abs(ends.at({a, i + 1}) - ends.at({a, i}) - seconds) > margin) return false;
  return true;
}

TEST_CASE("the shortcut finds the seconds that every iteration of the replay takes", "[property]") {
  int answered = 0, refused = 0, tight = 0;
  for (unsigned seed = 1; seed <= test::cases_of(2000u); ++seed) {
    INFO("seed " << seed);
    Plan plan = test::random_plan(seed, {.ties = seed % 2 == 0,
                                         .shared_links = seed % 16 == 3,
                                         .riffled = seed % 8 == 5,
                                         .owned_pools = seed % 4 != 1});
    plan.iterations = 200;
    const std::int64_t room = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 4 : 1000;
    for (Pool& pool : plan.pools)
      if (pool.capacity) *pool.capacity *= room;
    const auto seconds = unhindered(plan);
    if (!seconds) {
      ++refused;
      continue;
    }
    ++answered;
    tight += room < 1000;
    MemorySink walked;
    const ReplayResult result = replay(plan, walked, {.jumps = false});
    REQUIRE_FALSE(result.blocking);
    CHECK(repeats(plan, walked, *seconds, 1e-12 * result.makespan));
    const ReplayResult shown = replay(plan, {.until_period = true});
    if (!shown.period) continue;
    CHECK(*seconds == Approx(shown.period->seconds / static_cast<double>(shown.period->iterations))
                          .epsilon(1e-12));
  }
  CHECK(answered > 200);
  CHECK(refused > 200);
  CHECK(tight > 20);
}

}  // namespace
}  // namespace sluice
