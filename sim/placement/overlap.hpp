// Decides which moves of a placement the copy engine makes while kernels run, and when they begin and end. A move runs
// during the kernels that are closest to the use that needs the tensor, if the engine has free time and fast memory has
// room. A move stays synchronous if this makes the run faster than a move by the copy engine.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// Returns a schedule. In this schedule, the copy engine makes a move if the run is then faster than with a synchronous
/// move. Without an engine, all moves are synchronous.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
