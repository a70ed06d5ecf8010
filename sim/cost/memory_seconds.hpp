// Computes how many seconds the memories of a device need to move the bytes that a pass reads and writes.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

/// Returns the seconds of the operands, at the full rates of their memories. The seconds of the memories are added. If
/// `side_by_side` is true, the longest of these seconds is the result. Bytes without an operand are in the default
/// memory. Throws InputError if a rate is missing, or if a memory is behind a link.
double memory_seconds(const Query& query, bool side_by_side);

}  // namespace sluice
