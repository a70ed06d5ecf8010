// Replicas of one policy. That policy plans each replica for its own device, and the plans are
// joined into one.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// The devices of the replicas: those that `devices` lists, or all, but not more than there are batches. Throws
/// InputError at the key, and when a batch of training cannot be divided equally.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// The plan of all replicas. Each replica makes its choices on the platform `chosen_on`, but runs
/// on the platform of the request. `parameters` are those of the replicating policy together with
/// those of `policy`.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// Returns the plan of the first replica only.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

/// Returns the parameters with each way to settle what they leave open to the replicated policy. All replicas settle it
/// in the same way. Returns none where nothing is open. These ways are compared on all replicas, because what is best
/// for a replica that has the links alone need not be best where replicas share them.
std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters);

}  // namespace sluice
