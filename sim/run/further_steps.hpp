// Runs further steps of a plan in the replay, separately from the run itself. The further steps show how long a step
// takes after the first loads and before the end of the run, even if the question has only one step. Times are in
// seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of a further step of a checked plan. Returns nullopt if the plan has no body, if its own steps
/// already are as many as would be executed here, or if the longer run blocks. Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// Does the same with tables that the caller already has, and without a copy of the plan. During the call, the plan has
/// more iterations.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
