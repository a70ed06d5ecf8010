// Finds the steady state of some plans fast. In such a plan, an action waits only for the earlier actions of its
// stream, and for the actions in its waits. No flows share a link, and no action waits for memory. The times of such a
// plan can be computed action by action in listing order, without a queue of events.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of one iteration of the body in the steady state, in which all times grow by an equal amount
/// from one iteration to the next. replay() with `until_period` finds the same seconds. Returns nullopt if the times do
/// not grow evenly within a few iterations, or if links or memory may delay an action. For such a plan, only the replay
/// can find the seconds.
std::optional<double> unhindered_iteration_s(const PlanTables& tables);

}  // namespace sluice
