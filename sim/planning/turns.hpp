// Transfers that share a link, one after the other instead of side by side. Shared fairly, an
// urgent load takes twice as long beside one that is not; in turn, the one that began first ends
// first.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// The plan with its transfers in turn: on each link that several streams use, each transfer of a
/// section waits for the one that began before it where they share the link, by a simulation of the
/// plan as it is. None where no link is shared, or that plan blocks. Throws Interrupted.
std::optional<Plan> in_turn(const Plan& plan);

}  // namespace sluice
