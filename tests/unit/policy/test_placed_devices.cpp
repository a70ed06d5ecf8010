// Placements under policies phased and sharded in random scenarios with one to three devices, which have two memories
// each.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/moved_weights.hpp"
#include "planning/placement/turns/waiting_tensors.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/placed_bounds.hpp"
#include "support/random_devices.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomDevices;
using test::Unplaced;

TEST_CASE("under phased and sharded, no placed plan is faster than its bound",
          "[placement][property]") {
  test::BoundRuns counts;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{80}); ++seed) {
    const RandomDevices random(seed);
    INFO(random.text());
    Scenario scenario = random.scenario(1000, 1000, "none");
    test::check_placed_bounds(scenario, seed, counts, random.devices(), random.passed());
  }
  CHECK(counts.reached > counts.runs / 8);
}

TEST_CASE(
    "under phased and sharded, kernels take longer in a slower second memory only for tensors of the plan",
    "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    const RandomDevices random(seed);
    Unplaced unplaced(random);
    const Plan& plan_of_policy = unplaced.planned.plan;
    PlacedPrices& prices = unplaced.prices;
    const PlacedKinds placed(prices, plan_of_policy, /*in_turn=*/false);
    test::check_operands(plan_of_policy, prices, placed);
    // Kinds that are sent between devices may never be in a common second memory, but kernels may read them.
    std::set<TensorClass> in_plan;
    for (const Action& action : plan_of_policy.actions)
      for (const Placement& made : action.allocates)
        if (plan_of_policy.pools[made.pool].name != "host")
          in_plan.insert(plan_of_policy.tensors[made.tensor].tensor_class);
    for (const Action& action : plan_of_policy.actions) {
      if (action.is_transfer()) continue;
      INFO("seed " << seed << ", " << name_of(action) << "\n" << random.text());
      const StageWork work = prices.work_of(plan_of_policy, action);
      CHECK(prices.of(work, {}).seconds == Approx(action.seconds).epsilon(1e-9));
      for (const TensorKind& kind : prices.used_by(work))
        if (in_plan.count(kind.tensor_class) == 0)
          CHECK(prices.of(work, {kind}).seconds == Approx(action.seconds).epsilon(1e-9));
    }
  }
}

TEST_CASE("under phased and sharded, a run is never slower with more memory or with more freedom",
          "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{25}); ++seed) {
    const RandomDevices random(seed);
    const auto with = [&](std::int64_t first, std::int64_t second, const std::string& placement) {
      try {
        const Plan plan = make_plan(random.scenario(first, second, placement));
        check(plan);
        return replay(plan).makespan;
      } catch (const Infeasible&) {
        return never;
      }
    };
    Dice dice(seed);
    std::int64_t first = 200, second = 600;
    double before = never, open_before = never, cached_before = never;
    for (int n = 0; n < 4; ++n) {
      (dice.one_in(2) ? first : second) += 1 + static_cast<std::int64_t>(dice.below(700));
      INFO("seed " << seed << ", " << first << " and " << second << " bytes\n" << random.text());
      const double seconds = with(first, second, "static"), open = with(first, second, "auto");
      for (const char* other : {"none", "first_touch", "all_slow"})
        CHECK(seconds <= with(first, second, other) * (1 + 1e-9));
      CHECK(seconds <= before * (1 + 1e-9));
      CHECK(open <= std::min(seconds, open_before) * (1 + 1e-9));
      before = seconds;
      open_before = open;
      const double moved = with(first, second, "synchronous");
      CHECK(moved <= seconds * (1 + 1e-9));
      CHECK(with(first, second, "asynchronous") <= moved * (1 + 1e-9));
      const double cached = with(first, second, "cached");
      CHECK(cached <= cached_before * (1 + 1e-9));
      cached_before = cached;
    }
  }
}

TEST_CASE("under phased and sharded, no placed plan with moves is faster than its bound",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    const RandomDevices random(seed);
    Unplaced unplaced(random);
    const Plan& plan_of_policy = unplaced.planned.plan;
    PlacedPrices& prices = unplaced.prices;
    const PlacedKinds placed(prices, plan_of_policy,
                             unplaced.scenario.policy.keys.map().find("overlap") != nullptr);
    const MovedWeights moved(prices, placed);
    Dice dice(seed);
    TensorKinds slow, copied;
    for (const TensorKind& kind : placed.kinds())
      if (!dice.one_in(3)) slow.insert(kind);
    for (const TensorKind& kind : moved.movable(slow))
      if (!dice.one_in(3)) copied.insert(kind);
    if (copied.empty()) continue;
    for (const CopyMode mode : {CopyMode::synchronous, CopyMode::asynchronous}) {
      INFO("seed " << seed << "\n" << random.text());
      const Plan plan = moved.with_moves(placed.plan(slow), slow, copied, mode);
      check(plan);
      CHECK(moved.at_least(slow, copied, mode) <= replay(plan).makespan);
      ++runs;
    }
  }
  CHECK(runs > 40);
}

TEST_CASE("under phased and sharded, no placed plan with waiting tensors is faster than its bound",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{120}); ++seed) {
    const RandomDevices random(seed);
    Unplaced unplaced(random);
    const bool in_turn = unplaced.scenario.policy.keys.map().find("overlap") != nullptr;
    const PlacedKinds placed(unplaced.prices, unplaced.planned.plan, in_turn);
    Dice dice(seed);
    TensorKinds slow;
    for (const TensorKind& kind : placed.kinds())
      if (dice.one_in(4)) slow.insert(kind);
    for (const CopyMode mode : {CopyMode::synchronous, CopyMode::asynchronous}) {
      if (in_turn && mode == CopyMode::asynchronous) continue;
      INFO("seed " << seed << "\n" << random.text());
      const Plan base = placed.plan(slow);
      const WaitingGaps gaps(unplaced.prices, placed, base, mode);
      if (gaps.all().empty()) continue;
      const Plan plan = with_waiting(base, unplaced.prices, placed, gaps.all(), mode, in_turn);
      const double seconds = test::seconds_in_both_executors(plan);
      CHECK(placed.seconds_at_least(slow) <= seconds);
      CHECK(busy_seconds(plan, mode) <= seconds);
      ++runs;
    }
  }
  CHECK(runs > 20);
}

TEST_CASE("under phased and sharded, both executors run placed plans alike",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    const RandomDevices random(seed);
    std::vector<std::string> placements = {"static",      "all_slow",     "auto",
                                           "synchronous", "asynchronous", "cached"};
    if (random.is_single()) placements.emplace_back("backing");
    for (const std::string& placement : placements) try {
        INFO("seed " << seed << ", " << placement << "\n" << random.text());
        test::seconds_in_both_executors(make_plan(random.scenario(900, 2000, placement)));
        ++runs;
      } catch (const Infeasible&) {
      }
  }
  CHECK(runs > 20);
}

}  // namespace
}  // namespace sluice
