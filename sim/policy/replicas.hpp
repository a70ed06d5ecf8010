// Replicas of one policy. That policy plans each replica for its own device, and the plans are
// joined into one.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// The devices of the replicas: those that `devices` lists, or all; not more than there are
/// batches. Throws InputError at the key, and when a batch of training cannot be divided equally.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// The plan of all replicas. Each replica makes its choices on the platform `chosen_on`, but runs
/// on the platform of the request. `parameters` are those of the replicating policy together with
/// those of `policy`.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// Returns the plan of the first replica only.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

}  // namespace sluice
