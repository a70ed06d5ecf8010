// Says how many bytes a plan lacks that may use both memories of its devices.
#pragma once

#include "base/error.hpp"
#include "planning/placement/turns/placed_turns.hpp"

namespace sluice {

/// Plans for a shown machine, in which each device has one memory as large as the smallest sum of the two memories of a
/// device. If the placement puts all tensors into the second memory, only this memory counts. If the policy's plan does not fit into this memory, returns what is missing there. The result is empty if the
/// plan fits: then it fits into such a memory, but not into two separate ones. It is also empty if another memory is too
/// small.
Shortage shortage_of_both(const PlacedTurns& turns);

}  // namespace sluice
