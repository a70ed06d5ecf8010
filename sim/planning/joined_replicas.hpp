// Equal replicas whose tensors are placed in two memories. A placement that is fast for a replica alone may be slow for
// all replicas together. So placements are compared by the runs of all replicas.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/replica.hpp"
#include "planning/request.hpp"

namespace sluice {

/// How the plan of the first replica becomes the plan of all replicas.
struct JoinedReplicas {
  /// Returns the plan of all replicas. Transfers of several replicas that use one link at the same time share it.
  std::function<Plan(const Plan& first)> plan;
  ReplicaTransfers transfers = ReplicaTransfers::any;
  std::vector<std::string> devices = {};  ///< of all replicas
  /// Whether a policy offers only placements in two memories as candidates.
  bool only_placed = false;
};

/// Returns null if placements are compared by the runs of a single plan.
inline const JoinedReplicas* joined_replicas(const PolicyRequest& request) {
  return request.replicas ? request.replicas->joined : nullptr;
}

/// Returns JoinedReplicas::only_placed, or false.
inline bool offers_only_placed(const PolicyRequest& request) {
  const JoinedReplicas* const replicas = joined_replicas(request);
  return replicas && replicas->only_placed;
}

}  // namespace sluice
