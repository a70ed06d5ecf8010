// A short way to the steady state of a plan in which an action waits only for its stream and for
// the actions named in its waits: flows share no links, and memory is large enough. Then the times
// follow action by action in listing order, without a queue of events.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// The seconds of an iteration of the body once all of its times grow by the same amount from one
/// iteration to the next, as replay() finds them with `until_period`. None: they do not do so
/// within a few iterations, or something else may hold an action back. Then only the replay can
/// tell.
std::optional<double> unhindered_iteration_s(const PlanTables& tables);

}  // namespace sluice
