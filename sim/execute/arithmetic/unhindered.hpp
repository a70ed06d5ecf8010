// Finds the steady state of some plans fast. In such a plan, actions wait only for their streams and for the actions
// in their waits. No flows share a link, and no action waits for memory. The times of such a plan can be
// computed action by action in listing order, without a queue of events.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of an iteration of the body in the steady state. In the steady state, all times grow by an equal
/// amount from one iteration to the next. If `until_period` is true, replay() finds these seconds, too.
/// Returns nullopt if the times do not grow evenly within a few iterations. Returns nullopt also if links or
/// memory may delay an action. Only the replay can find the seconds of such a plan.
std::optional<double> unhindered_iteration_s(const PlanTables& tables);

}  // namespace sluice
