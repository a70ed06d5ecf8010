// Runs further steps of a plan, apart from the run itself: this shows how long a step takes after
// the first loads and before the end of the run, even where only one step was asked for. The replay
// runs the plan's body on. Seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// The seconds of a further step of a checked plan. None: the plan has no body, its own steps show
/// as much, or its further steps block. Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// The same with the plan's own tables and without copying the plan, which meanwhile has more
/// iterations.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
