// Waits that can never end, within a section of a plan.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError where waits within an iteration, and the order of each stream, form a cycle.
void check_cycles(const PlanTables& tables);

}  // namespace sluice
