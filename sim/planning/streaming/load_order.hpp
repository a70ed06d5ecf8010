// The order in which the copy engine of a rehearsal loads what a step needs. Internal to
// Rehearsal.
#pragma once

#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the loads of a step, each listed before a slot of that step. With `across`, a load may also be listed in the
/// previous step. This is the order for all but the first of many steps. Returns nothing if repeating the steps would
/// exceed the memory.
RehearsedOrder order_loads(const Rehearsal& rehearsal, bool across);

/// Whether the loads of a step stay within the memory if every step repeats them.
bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

}  // namespace sluice
