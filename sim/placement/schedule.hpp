// A placement whose moves have times. Some moves are synchronous, between two kernels, and some are on a copy engine
// while kernels run. Its seconds are computed by arithmetic here. The same schedule is also executed as a plan
// (listing.hpp).
#pragma once

#include "placement/placing.hpp"

namespace sluice {

struct PlacementSchedule {
  Placing placing;
  std::vector<PlacementMove> moves;  ///< in the order of `begin`, like those of moves_of()
};

/// The schedule with all moves synchronous.
PlacementSchedule synchronous_schedule(const PlacementQuestion& question, Placing placing);

/// The seconds of a move, either on the copy engine or synchronous.
double move_seconds(const PlacementQuestion& question, const PlacementMove& move);

/// Bytes in fast memory during each kernel. A tensor that is being moved to or from fast memory
/// counts as in it.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question,
                                     const PlacementSchedule& schedule);

/// The time at which everything has ended. A kernel begins after the previous kernel, after the moves that it needs,
/// and after the synchronous moves before it. The copy engine makes one move after the other, and begins each no
/// earlier than the kernel `begin` of that move.
double predicted_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule);
/// The same for kernels that take the given seconds.
double predicted_seconds(const PlacementQuestion& question, const std::vector<double>& kernel_s,
                         const std::vector<PlacementMove>& moves);

}  // namespace sluice
