// Runs further steps of a plan, separately from the run itself. They show how long a step takes after the first
// loads and before the end of the run, even if only one step was asked for. The replay executes them. Times are in
// seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// Returns the seconds of a further step of a checked plan. Returns nothing if the plan has no body,
/// if its own steps show as much, or if its further steps block. Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// Does the same with the plan's own tables and without a copy of the plan. While it works, the plan has more
/// iterations.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
