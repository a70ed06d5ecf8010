// Tests the lower bounds of what is left of a run, and replays that end early because of them.
#include <catch2/catch.hpp>

#include <limits>

#include "execute/arithmetic/least_rest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "plan/text.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

/// Returns a random plan whose pools all have a limit that changes nothing. So the replay counts the bytes that it
/// reserves in them.
Plan random_limited_plan(unsigned seed) {
  Plan plan = test::random_plan(seed, {.ties = seed % 3 == 0,
                                       .shared_links = seed % 4 != 0,
                                       .riffled = seed % 2 == 0,
                                       .owned_pools = seed % 5 != 0});
  for (Pool& pool : plan.pools) pool.limit = std::numeric_limits<std::int64_t>::max();
  return plan;
}

ReplayResult replay_to_beat(const PlanTables& tables, const LeastRest& rest, double seconds) {
  const ReplayWorth worth{seconds, rest};
  return replay(tables, ReplayOptions{.worth = &worth});
}

TEST_CASE("a run that may end early is a whole run, or is known to take too long", "[property]") {
  int shorter = 0, longer = 0, fewer_bytes = 0;
  for (unsigned seed = 1; seed <= test::cases_of(2000u); ++seed) {
    INFO("seed " << seed);
    Plan plan = random_limited_plan(seed);
    const PlanTables tables(plan);
    const LeastRest rest(tables);
    const ReplayResult whole = replay(tables, {.jumps = false});
    if (whole.blocking) continue;
    CHECK(rest.all_seconds() <= whole.makespan * (1 + 1e-9));
    for (const double part : {0.3, 0.8, 0.95, 0.999, 1.001}) {
      const double worth = part * whole.makespan;
      const ReplayResult run = replay_to_beat(tables, rest, worth);
      REQUIRE(!run.blocking);
      if (run.makespan < worth) {
        ++shorter;
        CHECK(run.makespan == Approx(whole.makespan).epsilon(1e-9));
        CHECK(run.reserved == whole.reserved);
        continue;
      }
      ++longer;
      CHECK(run.makespan <= whole.makespan * (1 + 1e-9));
      // Within the bytes that this run has reserved so far, the run takes too long, too.
      Plan less = plan;
      for (std::size_t p = 0; p < less.pools.size(); ++p) {
        fewer_bytes += run.reserved[p] < whole.reserved[p] ? 1 : 0;
        less.pools[p].limit = run.reserved[p];
      }
      const ReplayResult within = replay(less, {.jumps = false});
      CHECK((within.blocking || within.makespan >= worth * (1 - 1e-9)));
    }
  }
  CHECK(shorter > 100);
  CHECK(longer > 1000);
  CHECK(fewer_bytes > 100);
}

TEST_CASE("no limits of memory make a run shorter than the bound of its chains and links",
          "[property]") {
  int compared = 0;
  for (unsigned seed = 1; seed <= test::cases_of(1000u); ++seed) {
    INFO("seed " << seed);
    Plan plan = random_limited_plan(seed);
    const PlanTables tables(plan);
    const double least = LeastRest(tables).all_seconds();
    const ReplayResult whole = replay(tables);
    if (whole.blocking) continue;
    test::Dice dice(seed);
    for (int n = 0; n < 10; ++n) {
      for (std::size_t p = 0; p < plan.pools.size(); ++p)
        plan.pools[p].limit =
            whole.reserved[p] - static_cast<std::int64_t>(dice.below(
                                    static_cast<std::uint64_t>(whole.reserved[p]) / 3 + 1));
      const ReplayResult within = replay(plan);
      if (within.blocking) continue;
      ++compared;
      CHECK(least <= within.makespan * (1 + 1e-9));
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("the rest of a run is its longest chain, or what its links still carry") {
  // The link carries 1 B/s. Without other flows, the stream `in` loads 4 B until 4 s and 2 B until 6 s. Each load arrives
  // 0.5 s later. `first` computes from 4.5 to 5.5 s. Then `save` sends 4 B. `second` computes for 3 s.
  const Plan plan = plan_from_text(
      "format: sluice-plan/2\n"
      "pool gpu capacity=unlimited owner=gpu\npool host capacity=unlimited\n"
      "link bus bandwidth=1B/s\n"
      "route host>gpu links=bus latency=0.5s\nroute gpu>host links=bus\n"
      "stream gpu.compute kind=compute device=gpu\n"
      "stream gpu.in kind=copy device=gpu\nstream gpu.out kind=copy device=gpu\n"
      "tensor x class=weight bytes=4 home=host\ntensor y class=weight bytes=2 home=host\n"
      "tensor z class=weight bytes=4 home=gpu\n"
      "prologue:\n"
      "x on=gpu.in kind=load moves=x route=host>gpu\n"
      "first on=gpu.compute kind=forward seconds=1 waits=x\n"
      "save on=gpu.out kind=save moves=z route=gpu>host waits=first\n"
      "y on=gpu.in kind=load moves=y route=host>gpu\n"
      "second on=gpu.compute kind=forward seconds=3 waits=y\n",
      "test.plan");
  const PlanTables tables(plan);
  const LeastRest rest(tables);
  CHECK(rest.seconds(4, 0) == 3);
  CHECK(rest.seconds(3, 0) == 2 + 0.5 + 3);
  CHECK(rest.seconds(2, 0) == 4);
  CHECK(rest.seconds(1, 0) == 1 + 4);
  CHECK(rest.seconds(0, 0) == 4 + 5.5);
  // The link needs 10 s for all 10 B, and nothing follows the save.
  CHECK(rest.links()[0].bytes == 10);
  CHECK(rest.links()[0].after_s == 0);
  CHECK(rest.all_seconds() == 10);
  CHECK(replay(plan).makespan == Approx(10));
  // When the load of y begins, at 4 s, the link still has to carry 6 B. So the run does not end before 10 s.
  CHECK(replay_to_beat(tables, rest, 9.9).makespan == Approx(10));
  CHECK(replay_to_beat(tables, rest, 10.1).makespan == Approx(10));
}

}  // namespace
}  // namespace sluice
