// The order in which the copy engine of a rehearsal makes the loads of a step. Only Rehearsal uses this header.
#pragma once

#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the loads of a step. Each load is listed before a slot of this step. With `across`, a load may also be
/// listed before a slot of the previous step. The order is then for all steps except the first. If repeated steps would
/// exceed the memory, the result has no loads.
RehearsedOrder order_loads(const Rehearsal& rehearsal, bool across);

/// Every step repeats these loads. Returns whether they fit into the memory.
bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

}  // namespace sluice
