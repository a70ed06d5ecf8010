// Finds waits of a plan that form a cycle. The actions of a cycle would wait for ever.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError if the waits within an iteration and the order of the actions on each stream form a cycle.
void check_cycles(const PlanTables& tables);

}  // namespace sluice
