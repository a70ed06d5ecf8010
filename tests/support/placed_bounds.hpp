// Compares the bounds of placed plans with runs of these plans.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"

namespace sluice::test {

/// The number of runs, and the number of runs whose seconds are the bound, up to a millionth.
struct BoundRuns {
  int runs = 0, reached = 0;
};

/// Plans a scenario whose tensors are all in the first memories of the devices, without limits of memory. Places the
/// plan in eight random ways, and checks that no run is faster than its bound. Adds the runs to `counts`.
inline void check_placed_bounds(Scenario scenario, std::uint64_t seed, BoundRuns& counts,
                                const std::vector<std::string>& devices = {"gpu"},
                                PassedTensors passed = {}) {
  scenario.capacity_enforced = false;
  const PlannedScenario planned = plan_scenario(scenario);
  const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
  PlacedPrices prices(request, devices, passed);
  const PlacedKinds placed(prices, planned.plan,
                           scenario.policy.keys.map().find("overlap") != nullptr);
  Dice dice(seed);
  for (int n = 0; n < 8; ++n) {
    TensorKinds slow;
    for (const TensorKind& kind : placed.kinds())
      if (dice.one_in(2)) slow.insert(kind);
    INFO("seed " << seed << ", placement " << n);
    const double least = placed.seconds_at_least(slow);
    const double seconds = replay(placed.plan(slow)).makespan;
    CHECK(least <= seconds);
    ++counts.runs;
    counts.reached += seconds <= least * (1 + 1e-6) ? 1 : 0;
  }
}

}  // namespace sluice::test
