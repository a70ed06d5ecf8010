// Replicas of one policy. A policy makes a plan for each device, and these plans are joined into one plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// Returns the devices of the replicas. The key `devices` lists them. By default, these are all devices. There are at
/// most as many devices as batches. Throws InputError at the key if its devices are wrong. Also throws InputError if a
/// batch of training cannot be divided equally.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// Returns the plan of all replicas. Each replica makes its choices on the platform `chosen_on`, but runs on the
/// platform of the request. `parameters` are the parameters of the replicating policy together with the parameters of
/// `policy`.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// Returns the plan of the first replica only.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

/// The parameters may leave choices of the replicated policy open. Returns one list of parameters for each way to make
/// these choices equally for all replicas. These ways are compared in runs of all replicas together. Replicas that
/// share links may need another way than a replica alone. The first list has the unchanged parameters: each replica
/// then chooses for itself. If the other ways include everything that equal replicas can choose, this first list is
/// left out.
std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters);

/// Returns the keys of the policy `replicating` with `overlap: false`. Returns nothing in three cases: the replicated
/// `policy` does not have this parameter, the keys already give it, or the keys ask for weights loaded early
/// (`prefetch`).
std::optional<Keys> without_overlap(const Policy& replicating, const Policy& policy, Value keys);

}  // namespace sluice
