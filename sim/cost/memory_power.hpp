// The power that operators take that memory limits, as a share of what a busy device takes above
// rest: a key of every cost model that knows what limits an operator.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

Field memory_power_field();

/// Adds the joules of `by_memory_s` seconds of the price in which memory limited the work, and
/// whose joules are not known otherwise. A share of 1 leaves the price as it is: then the device's
/// watts tell the joules.
void take_memory_power(Price& price, double by_memory_s, double share, const Device& device);

/// Whether the bytes take longer than the FLOP at the device's full rates. False where the device
/// lacks one of the two.
bool is_bound_by_memory(const Work& work, const Device& device, DType dtype);

}  // namespace sluice
