// Makes transfers that share a link run one after the other (plan/passes/turns.hpp), in an order that a simulation
// finds.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Returns plans in which transfers take turns, in up to three orders. The orders come from a simulation of `plan`. In the
/// first order, the transfer that begins first in this simulation comes first. In the second order, the transfer comes
/// first whose data is needed first. In the third order, the link changes from one stream to another as seldom as
/// possible, because each change costs a latency. Of equal orders, only one is returned. The result is empty if no link is
/// shared, or if `plan` ends in a deadlock. The returned plans may end in a deadlock. Throws Interrupted.
std::vector<Plan> in_turn(const Plan& plan);

}  // namespace sluice
