// Checks the structure of a plan without executing it.
// execute/feasibility.hpp adds the checks that need an execution.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError where the plan contradicts itself: numbers outside the tables, the
/// same name twice in a section, waits that form a cycle or refer to a later section, a
/// collective of only one device or with an action of another collective, a tensor that
/// is allocated twice, a tensor that the body allocates and does not release, an action
/// without seconds or route (not lowered), or a start time in the body.
void check_structure(const Plan& plan);

/// Does what check_structure does, and returns the tables that it made; they refer to `plan`.
PlanTables checked_tables(const Plan& plan);

}  // namespace sluice
