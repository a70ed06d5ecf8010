// Lets transfers that share a link run one after the other (plan/passes/turns.hpp), in the order in
// which they begin in a simulation.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the plan in which transfers take turns, in the order in which they begin in a simulation of
/// `plan`. Returns nothing if no link is shared, or if `plan` ends in a deadlock. Throws Interrupted.
std::optional<Plan> in_turn(const Plan& plan);

}  // namespace sluice
