// Finds the order in which the copy engine makes the loads of a step, for a rehearsal. Only Rehearsal uses this header.
#pragma once

#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the loads of a step. Each load is listed before a slot of this step. With `across`, it may also be listed
/// before a slot of the previous step, and the order is that of every step after the first. If the memory is too
/// small for a sequence of such steps, the result has no loads.
RehearsedOrder order_loads(const Rehearsal& rehearsal, bool across);

/// Returns whether the memory is never exceeded if every step has the loads `loads`.
bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

}  // namespace sluice
