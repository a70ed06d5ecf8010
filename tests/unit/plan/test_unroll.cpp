// Unrolls the bodies of plans, and tests that the unrolled plans give the same runs as the original plans. The naive
// executor (support/oracle.hpp) and the replay execute the plans. A few plans are executed by SimGrid's engine, too.
#include <catch2/catch.hpp>
#include <map>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "plan/passes/unroll.hpp"
#include "plan/structure.hpp"
#include "plan/text.hpp"
#include "run/isolated.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/random_plan.hpp"

namespace sluice {
namespace {

/// Returns the start of each execution, with the name of its action. The number that unroll() appends to a name is left
/// out.
std::multimap<double, std::string> starts_of(const Plan& plan, const test::OracleResult& result) {
  std::multimap<double, std::string> starts;
  for (const auto& [execution, times] : result.times) {
    const std::string name = name_of(plan.actions[execution.first]);
    starts.emplace(times.start, name.substr(0, name.find('+')));
  }
  return starts;
}

double value_of(const Totals& totals, const std::string& metric) {
  return metric_catalog().find(metric).value(totals).number;
}

TEST_CASE(
    "an unrolled plan executes each action at the time at which the original plan executes it") {
  int compared = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const Plan plan = test::random_plan(seed, {.owned_pools = true});
    if (plan.iterations == 0) continue;
    for (std::int64_t times = 2; times <= plan.iterations; ++times) {
      if (plan.iterations % times != 0) continue;
      INFO("seed " << seed << ", " << times << " times");
      const Plan unrolled = unroll(plan, times);
      REQUIRE(unrolled.iterations * times == plan.iterations);
      check_structure(unrolled);
      const test::OracleResult before = test::oracle(plan), after = test::oracle(unrolled);
      REQUIRE(after.blocked == before.blocked);
      REQUIRE(replay(unrolled).blocking.has_value() == before.blocked);
      if (before.blocked) continue;
      ++compared;
      REQUIRE(after.makespan == Approx(before.makespan).epsilon(1e-12));
      REQUIRE(replay(unrolled).makespan == Approx(before.makespan).epsilon(1e-12));
      const auto a = starts_of(plan, before), b = starts_of(unrolled, after);
      REQUIRE(a.size() == b.size());
      REQUIRE(std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
        return std::abs(x.first - y.first) <= 1e-9;
      }));
    }
  }
  REQUIRE(compared > 100);
}

TEST_CASE("runs take equal times whether the body is a round, a whole step or the whole run") {
  test::Dice dice(20'241);
  int rolled = 0, compared = 0;
  for (const char* policy : {"resident", "sharded", "phased", "data_parallel resident"})
    for (int i = 0; i < 40; ++i) {
      const test::RandomCase random = test::random_case(dice, policy, /*training=*/false);
      const std::string text = test::random_settings(dice, random);
      INFO(policy << " " << i << ": " << text);
      const std::optional<Plan> plan = test::plan_within(random, text, 4 * random.all_bytes);
      REQUIRE(plan);
      if (plan->iterations_per_step > 1) ++rolled;
      Totals totals(*plan);
      const double makespan = replay(*plan, totals).makespan;
      for (const std::int64_t times : {plan->iterations_per_step, plan->iterations}) {
        const Plan unrolled = unroll(*plan, times);
        check(unrolled);
        Totals all(unrolled);
        CHECK(replay(unrolled, all).makespan == Approx(makespan).epsilon(1e-12));
        CHECK(value_of(all, "samples") == value_of(totals, "samples"));
        for (std::size_t p = 0; p < plan->pools.size(); ++p)
          CHECK(all.pools()[p].peak_bytes == totals.pools()[p].peak_bytes);
        if (times == plan->iterations) continue;
        CHECK(value_of(all, "step_s") == Approx(value_of(totals, "step_s")).epsilon(1e-9));
        if (i % 8 == 0)
          CHECK(execute_isolated(unrolled).report.makespan == Approx(makespan).epsilon(1e-9));
      }
      if (i % 8 == 0)
        CHECK(execute_isolated(*plan).report.makespan == Approx(makespan).epsilon(1e-9));
      ++compared;
    }
  CHECK(rolled > 60);
  CHECK(compared == 160);
}

TEST_CASE(
    "waits for earlier iterations, and work for later ones, refer to the right run of the unrolled body") {
  // Each of the eight iterations has a load for the next iteration, and a computation. The computation waits for the
  // load of its input, and for the computation of two iterations ago. The unrolled body has four copies of each action,
  // with the numbers 0 to 3. In run i of the unrolled body, copy c does the work of iteration 4 i + c of the original
  // plan.
  const Plan plan = plan_from_text(R"(format: sluice-plan/1
iterations 8
pool gpu capacity=1kB
pool host capacity=unlimited shared
link down bandwidth=1GB/s
route r links=down
stream copy kind=copy device=gpu
stream compute kind=compute device=gpu
tensor x class=input bytes=100
prologue:
first on=copy kind=load moves=x route=r bytes=100 allocates=x@gpu
body:
load on=copy kind=load moves=x route=r bytes=100 waits=run~1 allocates=x@gpu ahead=1
run on=compute kind=forward seconds=1 waits=load~1,run~2,prologue:first uses=x@gpu
epilogue:
end on=compute kind=forward seconds=1 waits=body:run~1
)",
                                   "test");
  const Plan four = unroll(plan, 4);
  REQUIRE(four.iterations == 2);
  REQUIRE(four.actions.size() == 1 + 8 + 1);
  const auto named = [&](const std::string& name) {
    for (std::uint32_t a = 0; a < four.actions.size(); ++a)
      if (four.actions[a].name == name) return a;
    FAIL("there is no action " + name);
    return none;
  };
  // Copy 3 of `load` loads the input of copy 0 of `run` in the next run of the body. Copy 2 of `load` loads the input
  // of copy 3 of `run` in the same run of the body.
  CHECK(four.actions[named("load+3")].ahead == 1);
  CHECK(four.tensors[four.actions[named("load+3")].flow().tensor].name == "x");
  CHECK(four.actions[named("load+2")].ahead == 0);
  CHECK(four.tensors[four.actions[named("load+2")].flow().tensor].name == "x+3");
  const Few<Wait, 2> zero = {{named("load+3"), 1}, {named("run+2"), 1}, {named("first"), 0}};
  CHECK(four.actions[named("run")].waits == zero);
  const Few<Wait, 2> three = {{named("load+2"), 0}, {named("run+1"), 0}, {named("first"), 0}};
  CHECK(four.actions[named("run+3")].waits == three);
  // The epilogue waits for the action `run` of iteration 8 - 1 - 1 = 6. In the unrolled plan, this is copy 2 in the
  // last run of the body.
  CHECK(four.actions[named("end")].waits == Few<Wait, 2>{{named("run+2"), 0}});
}

}  // namespace
}  // namespace sluice
