// Moves beside kernels: which of a placement's moves the copy engine makes, and from when to when.
// Each takes the time that kernels leave the engine, as near to its use (or its last use) as there
// is room in fast memory; it stays synchronous where that is faster.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// The schedule with as many moves on the copy engine as make it faster. Without an engine: the
/// synchronous one.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
