// Decides which moves of a placement the copy engine makes while kernels run, and when these moves begin and end.
// During a move, the engine must be free, and fast memory must have room for the tensor. A fetch is made as late as
// possible before the use that needs the tensor, and a save as early as possible after a use. Until its save has ended,
// the tensor stays in fast memory. A move stays synchronous unless the run becomes faster with the engine's move.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

/// What the copy engine finds during each kernel: the bytes in fast memory, the seconds of the kernel, and the seconds
/// for which the engine makes other moves.
struct EngineRoom {
  std::int64_t capacity = 0;
  const std::vector<std::int64_t>& bytes;
  const std::vector<double>&kernel_s, &taken_s;
  /// Whether the engine makes each move without a break. If not, a window may lie on both sides of another move.
  bool in_one_piece = true;
};

/// A move, and the kernels during which the copy engine makes it. If the engine cannot make the move during any kernel,
/// the move is synchronous.
struct EngineWindow {
  PlacementMove move;
  KernelRange held =
      {};  ///< the kernels during which the tensor is in fast memory because of the move
  std::vector<std::pair<std::uint32_t, double>> taken =
      {};             ///< pairs of a kernel and engine seconds
  double left_s = 0;  ///< the seconds of the move for which kernels must wait
};

/// Returns the kernels during which the copy engine may make the move: the kernels between the use before the move and
/// the use after it.
KernelRange window_range(const PlacementQuestion& question, const PlacementMove& move);

/// Chooses the kernels in `range` during which the copy engine makes the move. Goes from the kernel closest to the use
/// to kernels farther away. Stops when the kernels cover the whole move, or when fast memory has no room for the
/// tensor. If the kernels next to the use do not cover the move, kernels wait for the rest of it.
EngineWindow engine_window(const PlacementQuestion& question, PlacementMove move, KernelRange range,
                           const EngineRoom& room);

/// Sorts the moves of a schedule. Among the moves before one kernel, synchronous moves to slow memory come first,
/// because they make room. Then come synchronous moves to fast memory. Then come the copy engine's moves, in the order
/// in which kernels need them.
void order_moves(std::vector<PlacementMove>& moves);

/// Returns a schedule for the placement, with moves of the copy engine where they help. Without a copy engine, all
/// moves are synchronous.
PlacementSchedule overlapped(const PlacementQuestion& question, std::int64_t capacity,
                             Placing placing);

}  // namespace sluice
