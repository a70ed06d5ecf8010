// Checks the structure of a plan without executing it.
// execute/feasibility.hpp adds the checks that need an execution.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError if the plan contradicts itself:
/// - a number is outside of the tables;
/// - two actions of a section have the same name;
/// - waits form a cycle, or refer to a later section;
/// - a collective has only one device, or an action of another kind or on another device;
/// - an instance of a tensor is allocated twice, or the body allocates it and does not release it;
/// - an action has no seconds or no route (it is not lowered);
/// - an action of the body has a time `not_before`.
void check_structure(const Plan& plan);

/// Makes the checks of check_structure(), and returns the tables that were made for these checks. The tables refer to
/// `plan`.
PlanTables checked_tables(const Plan& plan);

}  // namespace sluice
