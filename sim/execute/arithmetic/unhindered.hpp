// A short way to the steady state of a plan whose actions wait only for their streams and for the actions named in
// their waits. For this, flows must share no links, and memory must be large enough. Then the times follow action by
// action in listing order, without a queue of events.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// The seconds of an iteration of the body once all of its times grow by the same amount from one
/// iteration to the next. They equal what replay() finds with `until_period`. None: the times do not grow
/// evenly within a few iterations, or something else may hold an action back. Then only the replay can
/// tell.
std::optional<double> unhindered_iteration_s(const PlanTables& tables);

}  // namespace sluice
