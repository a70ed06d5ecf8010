// Moves beside kernels: which of a placement's moves the copy engine makes, and from when to when.
// Each move takes time that kernels leave the engine, as near to the use for which it is made as
// there is room in fast memory. It stays synchronous where that is faster.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// The schedule in which the copy engine makes every move that becomes faster by it. Without an
/// engine, all moves are synchronous.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
