// Finds waits of a plan that form a cycle. Such waits can never end.
#pragma once

#include "plan/tables.hpp"

namespace sluice {

/// Throws InputError when the waits within an iteration, together with the order of each stream, form a cycle.
void check_cycles(const PlanTables& tables);

}  // namespace sluice
