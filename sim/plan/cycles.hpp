// Finds waits of a plan that can never end, because these waits form a cycle.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError when the waits within an iteration, together with the order of each stream, form a cycle.
void check_cycles(const PlanTables& tables);

}  // namespace sluice
