// Checks the structure of a plan, without executing it. execute/feasibility.hpp adds the checks
// that need an execution.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError where the plan contradicts itself: numbers outside the tables, a name twice in
/// a section, waits that form a cycle or refer to a later section, a collective of one device or
/// with a part of another one, a tensor that is allocated twice or never released in the body (its
/// net allocation must be zero), an action without seconds or route (not lowered), a time of the
/// run in the body.
void check_structure(const Plan& plan);

/// check_structure, and the tables that it needs; they refer to `plan`.
PlanTables checked_tables(const Plan& plan);

}  // namespace sluice
