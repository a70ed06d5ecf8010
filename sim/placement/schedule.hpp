// A schedule is a placement whose moves have times. Synchronous moves are between two kernels. A copy engine makes
// all other moves while kernels run. The functions of this file predict the seconds of a schedule by arithmetic.
// listing.hpp turns a schedule into a plan, which can be executed.
#pragma once

#include "placement/placing.hpp"

namespace sluice {

struct PlacementSchedule {
  Placing placing;
  std::vector<PlacementMove> moves;  ///< in the order of `begin`, as moves_of() returns them
};

/// Returns the schedule in which all moves are synchronous.
PlacementSchedule synchronous_schedule(const PlacementQuestion& question, Placing placing);

/// Returns the seconds of a move, which is either on the copy engine or synchronous.
double move_seconds(const PlacementQuestion& question, const PlacementMove& move);

/// Returns the bytes in fast memory during each kernel. The bytes include tensors that are being moved to or from fast
/// memory.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question,
                                     const PlacementSchedule& schedule);

/// Returns the time at which all kernels and moves have ended. A kernel begins after the previous kernel, after the
/// moves that it needs, and after the synchronous moves before it. The copy engine makes one move after the other.
/// Its moves begin no earlier than kernel `begin` could begin.
double predicted_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule);
/// Returns the end of all kernels and moves, for kernels that take `kernel_s[k]` seconds.
double predicted_seconds(const PlacementQuestion& question, const std::vector<double>& kernel_s,
                         const std::vector<PlacementMove>& moves);

}  // namespace sluice
