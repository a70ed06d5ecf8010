// Placements for policies that plan as if each device had a single memory. Such a policy only says which plans it makes
// for a machine. The key `placement` then works for these plans in the same way under every policy.
#pragma once

#include <functional>

#include "planning/placement/backing.hpp"
#include "policy/policy.hpp"

namespace sluice {

using PlansOf =
    std::function<PlansForMachine(const PolicyRequest& request, const Reader& parameters)>;

/// Returns the policy with the key `placement`, whose field is given, and with the functions `plan`, `candidates` and
/// `alternatives`, which follow this key. If the policy already has alternatives, they are compared for `placement:
/// none`. PlansForMachine::fixed must then have the same plans.
Policy placed_policy(Policy policy, Field placement, PlansOf plans);

}  // namespace sluice
