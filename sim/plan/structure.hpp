// The checks of a plan's structure: what needs no execution. execute/feasibility.hpp adds what
// does.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError where the plan contradicts itself: numbers outside the tables, names twice in
/// a section, waits that form a cycle or look into a later section, a collective of one device or
/// with a part of another one, a tensor that is allocated twice or never released in the body (its
/// net allocation must be zero), an action without seconds or route (not lowered), a time of the
/// run in the body.
void check_structure(const Plan& plan);

/// check_structure, and the tables that it needed; they refer to `plan`.
PlanTables checked_tables(const Plan& plan);

}  // namespace sluice
