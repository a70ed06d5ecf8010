// A schedule is a placement together with the time of each move. A synchronous move is made between two kernels. The
// copy engine makes all other moves while kernels run. The functions of this file predict the seconds of a schedule by
// arithmetic. The functions of listing.hpp turn a schedule into a plan and simulate it.
#pragma once

#include "placement/placing.hpp"

namespace sluice {

struct PlacementSchedule {
  Placing placing;
  std::vector<PlacementMove> moves;  ///< in the order of `begin`, as moves_of() returns them
};

/// Returns the schedule of a placement in which all moves are synchronous.
PlacementSchedule synchronous_schedule(const PlacementQuestion& question, Placing placing);

/// Returns the seconds of a move: at the copy engine's rate, or at the rate of synchronous moves if the move is
/// synchronous.
double move_seconds(const PlacementQuestion& question, const PlacementMove& move);

/// Returns the bytes in fast memory during each kernel. The bytes include the tensors that the copy engine is moving to
/// fast memory, and those whose save has not ended.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question,
                                     const PlacementSchedule& schedule);

/// Returns the time at which all kernels and moves have ended. A kernel begins when three things have ended: the kernel
/// before it, the moves that it needs, and the synchronous moves before it. The copy engine makes one move after the
/// other. None of these moves begins before the kernel PlacementMove::begin could start.
double predicted_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule);
/// Returns the same time for given kernels and moves. Kernel k takes `kernel_s[k]` seconds.
double predicted_seconds(const PlacementQuestion& question, const std::vector<double>& kernel_s,
                         const std::vector<PlacementMove>& moves);

}  // namespace sluice
