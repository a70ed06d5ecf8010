// Finds the order in which the copy engine makes the loads of a step, for a rehearsal. Only Rehearsal uses this header.
#pragma once

#include <vector>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the loads of a step, each listed before a slot of that step.
RehearsedOrder order_loads(const Rehearsal& rehearsal);

/// Returns orders in which a load may also be listed in the step before the step that needs it. Each order is for all
/// steps except the first. The rehearsed steps may alternate between two orders. So the function returns the order of
/// the second rehearsed step and the order of the third, or only one order if both are equal. If steps that all have
/// one of these orders would exceed the memory, this order is returned without its loads.
std::vector<RehearsedOrder> orders_across_steps(const Rehearsal& rehearsal);

/// Returns whether the memory is never exceeded if every step has the loads `loads`.
bool repeats_within_memory(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

}  // namespace sluice
