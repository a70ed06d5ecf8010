// Replicas: one policy makes a plan for each of several devices, and these plans are joined into one plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

/// Returns the devices of the replicas: those that the key `devices` lists, by default all devices, but at most as many
/// as there are batches to compute. Throws InputError at the key if its list is wrong. Also throws InputError if a
/// batch of training cannot be divided equally among the devices.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// Returns the plan of all replicas. The choices of each replica are made for the platform `chosen_on`, but the plan is
/// for the platform of the request. `parameters` has the parameters of `policy`, and those of the policy that makes
/// replicas of `policy`, such as `data_parallel`.
Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on);

/// Returns the plan of the first replica only.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

/// Returns the values of the parameters that are compared. For each of them, a run of all replicas together is
/// simulated. A run of one replica alone would not be enough: if replicas share links, another way to make the open
/// choices may be the fastest. There is one element for each way in which all replicas can make the open choices of
/// the replicated policy. Before these, the first element is `parameters` itself: with it, each replica chooses for
/// itself. This element is left out if the replicas are equal and there are other elements: then all replicas choose
/// alike, so the other elements include what each of them would choose.
std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters);

/// Returns `keys`, the keys of the policy `replicating`, with `overlap: false` added. Returns nothing in three cases:
/// the replicated `policy` has no parameter `overlap`, `keys` already gives it, or `keys` asks for early loads of
/// weights (`prefetch`).
std::optional<Keys> without_overlap(const Policy& replicating, const Policy& policy, Value keys);

}  // namespace sluice
