// Makes transfers that share a link run one after the other (plan/passes/turns.hpp), in an order that a simulation
// finds.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the plan in which transfers take turns: in the order in which they begin in a simulation of `plan`. The
/// result is empty if no link is shared, or if `plan` ends in a deadlock. Throws Interrupted.
std::optional<Plan> in_turn(const Plan& plan);

}  // namespace sluice
