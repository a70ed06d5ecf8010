// The power of operators that memory limits, as a share of the power above rest that a busy device takes. Every cost
// model that knows what limits an operator has a key for this share.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

Field memory_power_field();

/// Adds joules to the price for `by_memory_s` seconds in which memory limited the work. The joules of these seconds
/// are not known otherwise. A share of 1 leaves the price as it is, because the device's watts then tell the
/// joules.
void take_memory_power(Price& price, double by_memory_s, double share, const Device& device);

/// Whether the bytes take longer than the FLOP at the device's full rates. It is false if the device lacks one of the
/// two rates.
bool is_bound_by_memory(const Work& work, const Device& device, DType dtype);

}  // namespace sluice
