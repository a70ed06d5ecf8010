// Replicas of one policy, each planned by that policy for a device of its own, joined into one
// plan.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// The devices of the replicas: those that `devices` lists, or all; no more than there are batches.
/// Throws InputError at the key, and where a batch of training cannot be divided equally.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// The replicas together, each with the choices that it makes on `chosen_on`; they run on the
/// platform of the request. `parameters` are those of the replicating policy together with those of
/// `policy`.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// Only the first of them.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

}  // namespace sluice
