// Replicas of one policy, each on a device of its own and each planned by that policy, as one plan.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// The devices of the replicas: those that `devices` lists, or all; no more than there are batches.
/// Throws InputError at the key, and where a batch of training cannot be shared equally.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// The replicas together, each as it chooses on `chosen_on`; they run on the platform of the
/// request. `parameters`: of the replicating policy, with those of `policy` beside them.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// The first of them by itself.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

}  // namespace sluice
