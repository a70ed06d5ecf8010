// Further steps of a plan, aside: what a step takes once the first loads are paid and before the
// end comes, though few steps, or one, were asked. The replay runs the plan's body on. Seconds.
#pragma once

#include <optional>

#include "plan/tables.hpp"

namespace sluice {

/// A checked plan. None: it has no body, its own steps show as much, or its further steps block.
/// Throws Interrupted on a signal.
std::optional<double> further_step_s(const Plan& plan);
/// The same with the plan's own tables, without a copy of it: it has more iterations meanwhile.
std::optional<double> further_step_s(Plan& plan, const PlanTables& tables);

}  // namespace sluice
