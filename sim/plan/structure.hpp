// Checks the structure of a plan without running it. The checks that need a run are in execute/feasibility.hpp.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError if the plan contradicts itself:
/// - the plan names an element by a number that its table does not have;
/// - two actions of a section have the same name;
/// - waits form a cycle, or an action waits for an action of a later section;
/// - a collective has only one device, or one of its actions has another kind or runs on another device;
/// - an instance of a tensor is allocated twice, or the body allocates an instance and does not release it;
/// - a computation has no seconds, or a flow has no route, because lower() was not called (planning/lower.hpp);
/// - an action of the body has the key `not_before`.
void check_structure(const Plan& plan);

/// Makes the same checks as check_structure(), and returns the tables that the checks need. The tables refer to `plan`,
/// which must live longer than they do.
PlanTables checked_tables(const Plan& plan);

}  // namespace sluice
