// What a policy is asked: a priced model on a platform, a workload, and what the scenario decided.
#pragma once

#include <string>

#include "planning/lower.hpp"
#include "workload/workload.hpp"

namespace sluice {

class Value;

struct PolicyRequest {
  Pricing pricing;  ///< model, stages, platform, cost model, dtype
  Workload workload;
  std::string strategy = "keep_all";  ///< of the fate catalog
  bool capacity_enforced = true;
  bool working_set_counted = true;
  const Value* phases = nullptr;     ///< the scenario's `phases:`, for policy phased
  const Value* fate_keys = nullptr;  ///< the scenario's `fates:`; may be null
  bool cut_open = false;             ///< the stages are one of several ways to cut the model

  /// The same with other prices: of other stages, or on another platform.
  PolicyRequest priced(const Pricing& other) const {
    return {other,  workload,  strategy, capacity_enforced, working_set_counted,
            phases, fate_keys, cut_open};
  }

  /// Boundary activations stay on the device, or nothing is said of them.
  bool keeps_all() const { return strategy == "keep_all" || strategy == "auto"; }
};

}  // namespace sluice
