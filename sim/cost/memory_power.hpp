// The additional power of a device is its power minus its idle power. Operators that are limited by memory take only a
// share of the additional power of a busy device. A cost model that knows what limits an operator has a key for this
// share.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

Field memory_power_field();

/// Adds to the price the joules of `by_memory_s` seconds in which memory limited the work. Call this function only for
/// seconds without known joules. `share` is the share of the additional power that the device takes in these seconds.
/// If it is 1, the function leaves the price unchanged: other code then computes the joules from the device's watts.
void take_memory_power(Price& price, double by_memory_s, double share, const Device& device);

/// Returns whether the bytes take more seconds than the FLOP, at the device's full rates. If one of the two rates is
/// not known, returns false.
bool is_bound_by_memory(const Work& work, const Device& device, DType dtype);

}  // namespace sluice
