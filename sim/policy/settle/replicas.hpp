// Replicas of one policy. A policy makes a plan for each device, and these plans are joined into one plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// Returns the devices of the replicas: the devices that the key `devices` lists, or by default all devices. There are
/// at most as many devices as batches. Throws InputError at the key if its devices are wrong, and if a batch of
/// training cannot be divided equally.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// Returns the plan of all replicas. Each replica makes its choices on the platform `chosen_on`, but runs on the
/// platform of the request. `parameters` are the parameters of the replicating policy together with the parameters of
/// `policy`.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// Returns the plan of the first replica only.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

/// The parameters may leave choices of the replicated policy open. Returns one list of parameters for each
/// way to make these choices equally for all replicas. These ways are compared in runs of all replicas
/// together. The best way for a replica that has the links alone may not be the best way for replicas that
/// share links. The unchanged parameters come first: with them, each replica chooses for itself. The
/// unchanged parameters are left out if the other ways include everything that equal replicas can choose.
std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters);

/// Returns the keys of the policy `replicating` with `overlap: false`. Returns nothing if the replicated `policy` does
/// not have this parameter, if the keys give this parameter, or if they ask for weights loaded early (`prefetch`).
std::optional<Keys> without_overlap(const Policy& replicating, const Policy& policy, Value keys);

}  // namespace sluice
