// The order in which the copy engine of a rehearsal brings what a step needs. Internal to
// Rehearsal.
#pragma once

#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// The loads of a step, each listed at a slot of that step; `across`: loads may stand in the step
/// before, as they do in the middle of many steps. Empty where the steps then do not repeat within
/// the memory.
RehearsedOrder order_loads(const Rehearsal& rehearsal, bool across);

/// Do the loads of a step, repeated in every step, stay within the memory?
bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

}  // namespace sluice
