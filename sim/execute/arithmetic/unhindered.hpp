// A short way to the steady state, for a plan in which nothing holds an action back but its stream
// and the actions that it waits for: no links that flows share, no memory that has too little room.
// Then the times follow action by action in listing order, without a queue of events.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Seconds that an iteration of the body takes once all of its times grow by the same amount from
/// one iteration to the next, as replay() finds them with `until_period`. None: they do not do so
/// within a few iterations, or it is not certain that nothing else holds an action back. Then the
/// replay has to say.
std::optional<double> unhindered_iteration_s(const PlanTables& tables);

}  // namespace sluice
