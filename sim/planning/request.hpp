// The request to a policy: a priced model on a platform, a workload, and the choices of the scenario.
#pragma once

#include <optional>

#include "fates/strategy.hpp"
#include "planning/lower.hpp"
#include "workload/workload.hpp"

namespace sluice {

struct EqualReplicas;
class ShownPlans;

struct PolicyRequest {
  Pricing pricing;  ///< the model, the stages, the platform, the cost model and the dtype
  Workload workload;
  /// The strategy for fates. If the value is empty, the policy chooses a strategy or keeps all activations.
  std::optional<Chosen<FateStrategy>> fates = {};
  bool capacity_enforced = true;
  bool working_set_counted = true;
  std::optional<Keys> phases = {};  ///< the scenario's `phases:`, if the policy uses them
  /// Whether several cuts are compared. The stages of `pricing` are one of these cuts.
  bool cut_open = false;
  /// Whether several strategies for fates are compared. `fates` is one of these strategies.
  bool fates_open = false;
  /// Whether the gradients are summed with the gradients of other replicas. The code that adds these gradients up needs
  /// one gradient tensor per stage.
  bool sums_gradients = false;
  /// Null if the pricing's platform is the real machine. Otherwise the platform is a shown machine
  /// (planning/placement/backing.hpp), and this is the real machine: on it, inputs and answers use other links than on
  /// the shown machine.
  const Platform* real_machine = nullptr;
  /// Whether the plan is only made to be changed afterwards: its tensors are then placed in two memories. A policy then
  /// compares fewer fates and ways to list loads: the fastest of them need not be the fastest after the change.
  bool made_to_change = false;
  /// Whether the cost model counts the bandwidths of memories (CostModel::counts_memories).
  bool memories_counted = true;
  /// If the request is for a lower bound of the run of several equal replicas: what is known about all of them
  /// (planning/equal_replicas.hpp). Otherwise null.
  const EqualReplicas* replicas = nullptr;
  /// Plans that are known from other requests (planning/placement/turns/shown_plans.hpp), or null.
  ShownPlans* shown_plans = nullptr;

  /// Returns a copy of this request with the pricing `other`, for example for other stages or another platform. The copy
  /// has no `replicas` and no `shown_plans`, because they belong to the platform.
  PolicyRequest priced(const Pricing& other) const {
    return {other,          workload,        fates,      capacity_enforced, working_set_counted,
            phases,         cut_open,        fates_open, sums_gradients,    real_machine,
            made_to_change, memories_counted};
  }

  /// Returns the strategy for fates, or the strategy that keeps all activations if `fates` is empty.
  const FateStrategy& strategy() const { return fates ? **fates : *kept_fates(); }
};

}  // namespace sluice
