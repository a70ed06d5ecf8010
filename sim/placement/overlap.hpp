// Decides which moves of a placement the copy engine makes while kernels run, and when these moves begin and end.
// During a move, the engine must be free, and fast memory must have room for the tensor. A fetch is made during the
// kernels directly before the use that needs the tensor, and a save during the kernels directly after a use. A move
// stays synchronous unless the run becomes faster when the copy engine makes the move.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// Returns a schedule for the placement, with moves of the copy engine where they help. Without a copy engine, all
/// moves are synchronous.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
