// Replays a plan for more steps than the question asks for. In this longer run, the steps in the middle show
// the steady state: they come after the first loads and before the end of the run. So Sluice can give the seconds of a
// step in the steady state even if the question has a single step. Times are in seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of a step in a longer run of a checked plan. Returns nullopt if the plan has no body, if its
/// steps have too many actions for a longer run, or if the longer run blocks. Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// Returns the same seconds as the function above. `tables` are the tables of `plan`. This function makes no copy of
/// the plan: during the call, the plan itself has the iterations of the longer run.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
