// The order in which the copy engine of a rehearsal makes the loads of a step. Only Rehearsal uses this header.
#pragma once

#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the loads of a step, each listed before a slot of that step. With `across`, a load may
/// also be listed in the step before the step that needs it, and the order is for all steps except
/// the first. The result has no loads if repeated steps would exceed the memory.
RehearsedOrder order_loads(const Rehearsal& rehearsal, bool across);

/// Returns whether the loads of a step fit into the memory if every step repeats them.
bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

}  // namespace sluice
