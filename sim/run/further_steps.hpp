// Runs more steps of a plan in the replay than the question asks for. In this longer run, the steps in the middle show
// the steady state: they come after the first loads and before the end of the run. So the seconds of a step in the
// steady state are known even for a question with a single step. Times are in seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of a step in a longer run of a checked plan. Returns nullopt in three cases: the plan has no
/// body, its steps have too many actions for a longer run, or the longer run blocks. Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// Returns the same seconds as the function above. Uses the tables of the caller instead of a copy of the plan. During
/// the call, the plan has the iterations of the longer run.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
