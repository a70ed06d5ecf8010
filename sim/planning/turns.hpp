// Transfers that share a link in turn (plan/passes/turns.hpp), in the order that a simulation
// shows.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// The plan with its transfers in turn, in the order in which they begin in a simulation of the
/// plan as it is. None where no link is shared, or that plan blocks. Throws Interrupted.
std::optional<Plan> in_turn(const Plan& plan);

}  // namespace sluice
