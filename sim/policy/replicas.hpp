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

/// The parameters with each way to settle what the replicated policy leaves open to them, the same
/// for all replicas; none where nothing is open. Where replicas share links, what is best for one
/// that is alone need not be best for all of them.
std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters);

}  // namespace sluice
