// Finds waits within a section of a plan that can never end.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError where waits within an iteration, and the order of each stream, form a cycle.
void check_cycles(const PlanTables& tables);

}  // namespace sluice
