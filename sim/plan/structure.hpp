// Checks the structure of a plan without executing it.
// execute/feasibility.hpp adds the checks that need an execution.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError if the plan contradicts itself:
/// - a number refers to an element that its table does not have;
/// - two actions of a section have the same name;
/// - waits form a cycle, or refer to a later section;
/// - a collective has only one device, or one of its actions has another kind or runs on another device;
/// - an instance of a tensor is allocated twice, or the body allocates an instance and does not release it;
/// - a computation has no seconds, or a flow has no route (the plan is not lowered);
/// - an action of the body has the key `not_before`.
void check_structure(const Plan& plan);

/// Makes the checks of check_structure(), and returns the tables that were made for these checks. The tables refer to
/// `plan`.
PlanTables checked_tables(const Plan& plan);

}  // namespace sluice
