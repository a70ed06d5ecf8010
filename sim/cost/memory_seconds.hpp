// How long the memories of a device take to move what a pass reads and writes.
#pragma once

#include "cost/cost.hpp"

namespace sluice {

/// Seconds at the full rates of the memories that the operands are in, one memory after another
/// unless `side_by_side`. Bytes that do not belong to an operand are in the default memory. Throws
/// InputError where a rate is missing, or where a memory is behind a link.
double memory_seconds(const Query& query, bool side_by_side);

}  // namespace sluice
