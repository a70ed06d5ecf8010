// A placement with its moves in time: some are synchronous, between two kernels, and some are on a
// copy engine while kernels run. Its seconds are arithmetic; the same schedule is also executed as
// a plan (listing.hpp).
#pragma once

#include "placement/placing.hpp"

namespace sluice {

struct PlacementSchedule {
  Placing placing;
  std::vector<PlacementMove> moves;  ///< in the order of `begin`, as moves_of() has them
};

/// The schedule with all moves synchronous.
PlacementSchedule synchronous_schedule(const PlacementQuestion& question, Placing placing);

/// The seconds of a move, on the copy engine or as a synchronous one.
double move_seconds(const PlacementQuestion& question, const PlacementMove& move);

/// Bytes in fast memory during each kernel. A tensor on the way to or from fast memory counts as in
/// it.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question,
                                     const PlacementSchedule& schedule);

/// The time at which everything has ended. A kernel begins after the one before it, after the moves
/// that it needs and after the synchronous moves before it. The copy engine makes one move after
/// the other, each not before its kernel `begin`.
double predicted_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule);
/// The same with the seconds of the kernels given.
double predicted_seconds(const PlacementQuestion& question, const std::vector<double>& kernel_s,
                         const std::vector<PlacementMove>& moves);

}  // namespace sluice
