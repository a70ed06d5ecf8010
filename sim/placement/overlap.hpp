// Decides which of a placement's moves the copy engine makes while kernels run, and from when to when. Each move uses
// time that kernels leave the engine, as close to the use that needs it as fast memory has room. A move stays
// synchronous if that is faster.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// Returns the schedule in which the copy engine makes every move that becomes faster in this way. Without an engine,
/// all moves are synchronous.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
