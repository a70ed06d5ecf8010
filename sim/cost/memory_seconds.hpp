// Computes the seconds in which a device's memories move the bytes of a pass.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

/// Returns the seconds of the operands, at the full rates of their memories. The seconds of the memories are added. If
/// `side_by_side` is true, the longest of these seconds is the result. Bytes without an operand are in the default
/// memory. Throws InputError if a rate is missing, or if a memory is behind a link.
double memory_seconds(const Query& query, bool side_by_side);

}  // namespace sluice
