// Finds the steady state of a plan fast, if its actions wait only for their streams and for the actions named in their
// waits. A plan of this kind has no flows that share links, and its memory is large enough for every action. The times
// of this plan can be computed action by action in listing order, without a queue of events.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of an iteration of the body in the steady state, in which all times grow by an equal amount from
/// one iteration to the next iteration. If `until_period` is true, replay() finds these seconds, too.
/// Returns nullopt if the times do not grow evenly within a few iterations, or if links or memory may
/// delay an action. If the function returns nullopt, only the replay can find the seconds.
std::optional<double> unhindered_iteration_s(const PlanTables& tables);

}  // namespace sluice
