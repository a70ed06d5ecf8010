// The request to a policy: a priced model on a platform, a workload, and the choices of the scenario.
#pragma once

#include <optional>

#include "fates/strategy.hpp"
#include "planning/lower.hpp"
#include "workload/workload.hpp"

namespace sluice {

struct PolicyRequest {
  Pricing pricing;  ///< model, stages, platform, cost model, dtype
  Workload workload;
  /// The strategy for fates. If it is empty, the policy chooses the strategy, or everything is kept.
  std::optional<Chosen<FateStrategy>> fates = {};
  bool capacity_enforced = true;
  bool working_set_counted = true;
  std::optional<Keys> phases = {};  ///< the scenario's `phases:`, if the policy uses them
  bool cut_open = false;            ///< the stages are one of several cuts that are compared
  bool fates_open = false;          ///< the strategy for fates is one of several that are compared
  /// Whether the gradients are summed with the gradients of other replicas. The code that adds this sum needs a
  /// gradient tensor for each stage.
  bool sums_gradients = false;
  /// Whether the host of the platform stands for the second memory of a device (planning/placement/backing.hpp). Then
  /// inputs come over other links than the platform says.
  bool host_is_shown = false;

  /// Returns this request with the pricing `other`, which may be for other stages or for another platform.
  PolicyRequest priced(const Pricing& other) const {
    return {other,  workload, fates,      capacity_enforced, working_set_counted,
            phases, cut_open, fates_open, sums_gradients,    host_is_shown};
  }

  /// Returns the strategy for fates, or if the request has none, the strategy that keeps everything.
  const FateStrategy& strategy() const { return fates ? **fates : *kept_fates(); }
};

}  // namespace sluice
