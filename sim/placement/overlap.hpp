// Decides which moves of a placement the copy engine makes while kernels run, and when these moves begin and end. The
// engine needs free time, and fast memory needs room. A move runs during the kernels closest to the use that needs
// the tensor. If a synchronous move makes the run faster, the move stays synchronous.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// Returns a schedule with the copy engine's moves. Without an engine, all moves are synchronous.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
