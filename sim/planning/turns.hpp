// Lets transfers that share a link run one after the other (plan/passes/turns.hpp). A simulation gives their order.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the plan in which transfers take turns. They take turns in the order in which they begin in a simulation of
/// `plan`. If no link is shared or `plan` ends in a deadlock, returns nothing. Throws Interrupted.
std::optional<Plan> in_turn(const Plan& plan);

}  // namespace sluice
