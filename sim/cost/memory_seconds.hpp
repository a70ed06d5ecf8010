// Computes the seconds in which a device's memories move the bytes of a pass.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

/// Returns the seconds in which the device reads and writes the operands, at the full rates of their memories. If
/// `side_by_side` is true, this is the longest time of a single memory. Otherwise the times of the memories are added.
/// Bytes of the query's work that belong to no operand count as bytes in the device's default memory. Throws InputError
/// if a rate is missing, or if a memory is behind a link.
double memory_seconds(const Query& query, bool side_by_side);

}  // namespace sluice
