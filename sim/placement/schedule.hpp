// A placement with its moves in time: some synchronous, between two kernels, some on a copy engine
// while kernels run. What it takes is arithmetic; the same as a plan (listing.hpp) is executed.
#pragma once

#include "placement/placing.hpp"

namespace sluice {

struct PlacementSchedule {
  Placing placing;
  std::vector<PlacementMove> moves;  ///< in the order of `begin`, as moves_of() has them
};

/// All moves synchronous.
PlacementSchedule synchronous_schedule(const PlacementQuestion& question, Placing placing);

/// On the copy engine or not.
double move_seconds(const PlacementQuestion& question, const PlacementMove& move);

/// Bytes in fast memory during each kernel: on the way to or from it counts as in it.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question,
                                     const PlacementSchedule& schedule);

/// When everything has ended. A kernel begins after the one before, after the moves that it needs
/// and after the synchronous ones before it; the copy engine makes one move after the other, none
/// before the kernel that it says begins.
double predicted_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule);
/// The same where the seconds of the kernels are known.
double predicted_seconds(const PlacementQuestion& question, const std::vector<double>& kernel_s,
                         const std::vector<PlacementMove>& moves);

}  // namespace sluice
