// Compares the bounds of placed plans with runs of these plans.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "planning/placement/turns/placement_facts.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"

namespace sluice::test {

/// The number of runs, and the number of runs whose seconds are the bound, up to a millionth.
struct BoundRuns {
  int runs = 0, reached = 0;
};

/// Checks that each computation lists a tensor of each kind that its price counts, unless tensors of this kind stay on
/// the device, or the plan has no tensors of this kind. So a tensor in the second memory slows down exactly the
/// computations that use it. A computation may have a workspace without bytes. A backward pass for weights only also
/// counts the gradients of its inputs, which it does not list.
inline void check_operands(const Plan& plan, PlacedPrices& prices, const PlacedKinds& placed) {
  const auto stays = [](const TensorKind& kind) {
    return kind.tensor_class == TensorClass::workspace ||
           kind.tensor_class == TensorClass::weight ||
           kind.tensor_class == TensorClass::optimizer ||
           kind.tensor_class == TensorClass::kv_cache || kind.of_weights;
  };
  TensorKinds all;  // the kinds of the plan's tensors
  for (const Action& action : plan.actions)
    for (const Placement& made : action.allocates)
      if (const std::optional<TensorKind> kind = placed.kind_of(made)) all.insert(*kind);
  // If the seconds of backward passes are a multiple of those of forward passes, they depend on other tensors.
  const Training* const training = prices.request().pricing.training;
  const bool multiple = training && training->backward;
  for (const Action& action : plan.actions) {
    if (action.is_transfer() || (multiple && action.kind != ActionKind::forward) ||
        action.kind == ActionKind::backward_weight)
      continue;
    TensorKinds listed;
    const auto list = [&](const Placement& one) {
      if (std::optional<TensorKind> kind = placed.kind_of(one)) {
        kind->device = 0;
        listed.insert(*kind);
      }
    };
    for (const Access& use : action.uses) list(use.placement());
    for (const Placement& made : action.allocates) list(made);
    INFO(name_of(action));
    for (TensorKind kind : prices.used_by(prices.work_of(plan, action))) {
      if (all.count(kind) == 0 || stays(kind)) continue;
      INFO("class " << static_cast<int>(kind.tensor_class) << ", stage " << kind.stage);
      kind.device = 0;
      CHECK(listed.count(kind) == 1);
    }
  }
}

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
  check_operands(planned.plan, prices, placed);
  Dice dice(seed);
  for (int n = 0; n < 8; ++n) {
    TensorKinds slow;
    for (const TensorKind& kind : placed.kinds())
      if (dice.one_in(2)) slow.insert(kind);
    INFO("seed " << seed << ", placement " << n);
    const double least = placed.seconds_at_least(slow);
    const Plan plan = placed.plan(slow);
    const double seconds = replay(plan).makespan;
    CHECK(least <= seconds);
    CHECK(kernel_seconds_at_least(planned.plan, prices) <= kernel_seconds(plan));
    ++counts.runs;
    counts.reached += seconds <= least * (1 + 1e-6) ? 1 : 0;
  }
}

}  // namespace sluice::test
