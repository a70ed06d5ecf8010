// Runs many steps of a plan in the replay, usually more steps than the run itself has. Such a longer run has steps
// after the first loads and before the end of the run. So the seconds of such a step are known even if the question has
// only one step. Times are in seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of a step in a longer run of a checked plan. Returns nullopt if the plan has no body, if its
/// steps have too many actions for a longer run, or if the longer run blocks. Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// Returns the seconds of a step in a longer run, like the function above, but uses the tables of the caller and makes
/// no copy of the plan. During the call, the plan has the iterations of the longer run.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
