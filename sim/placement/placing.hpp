// A placement says for each tensor which memory holds it, at each use and in each gap between uses. A gap is the
// kernels from one use to the next. The path of a tensor is its part of the placement. The placement determines the
// bytes in fast memory and the necessary moves. It also determines the seconds of a run with only synchronous moves.
//
// A tensor in fast memory during a gap is also there at the uses before and after the gap. A tensor that is moved to
// fast memory keeps its copy in slow memory until a kernel writes the tensor. Until then, it can leave fast memory
// without cost. What a use writes in fast memory is saved at most once.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

/// The path of one tensor. An element is 1 for fast memory, and 0 for slow memory.
struct TensorPath {
  std::vector<char> use, gap;  ///< gap[i] is before use i; gap[0] of a tensor that is made is 0
  bool operator==(const TensorPath&) const = default;
};

using Placing = std::vector<TensorPath>;  ///< indexed by tensor

/// Returns the path of a tensor that is always in one memory.
TensorPath constant_path(const PlacementQuestion& question, std::uint32_t t, bool fast);
/// Returns whether each tensor is always in one memory. A placement without moves may give false. A tensor that is
/// given at the start may begin in fast memory and leave it without cost.
bool is_static(const PlacementQuestion& question, const Placing& placing);
/// all_slow() places all tensors in slow memory. all_fast() places all tensors in fast memory. Pinned tensors stay in
/// their memory.
Placing all_slow(const PlacementQuestion& question);
Placing all_fast(const PlacementQuestion& question);

/// A move before kernel `begin`. If `needed` equals `begin`, the move is synchronous. Otherwise the move runs while
/// kernels run, and ends before kernel `needed` begins.
struct PlacementMove {
  std::uint32_t tensor = none;
  bool to_fast = true;
  std::uint32_t begin = 0, needed = 0;
  /// For a fetch, the use that needs the tensor. For a save, the use after the gap with the save. 0 for a save after
  /// the last use.
  std::size_t use = 0;
  bool synchronous() const { return begin == needed; }
};

/// Returns all moves as synchronous moves: a fetch directly before a use, and a save directly after a use. The moves
/// are in the order of `begin`, with saves before fetches.
std::vector<PlacementMove> moves_of(const PlacementQuestion& question, const Placing& placing);

/// How often a path fetches its tensor, and how often it saves its tensor.
struct PathMoves {
  std::size_t fetches = 0, saves = 0;
};
PathMoves moves_of_path(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path);

/// Returns for each kernel which of its operands are in slow memory.
std::vector<std::vector<char>> slow_operands(const PlacementQuestion& question,
                                             const Placing& placing);
/// Returns the seconds of each kernel.
std::vector<double> kernel_seconds(const PlacementQuestion& question, const Placing& placing);

/// Returns the bytes in fast memory during each kernel.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question, const Placing& placing);

/// Returns the seconds of all kernels and moves, if all moves are synchronous.
double synchronous_seconds(const PlacementQuestion& question, const Placing& placing);

/// Throws Infeasible if fast memory has no room for the tensors of the placement. The message names the kernel, the
/// memory and the largest tensors. `what` is the name of the placement in the message.
void check_capacity(const PlacementQuestion& question, const Placing& placing,
                    std::int64_t capacity, const std::string& what);

}  // namespace sluice
