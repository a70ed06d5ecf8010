// A placement says, for each tensor, in which memory it is at each use and in each gap between uses. The kernels from
// one use to the next are a gap. The path of a tensor is its memories at all uses and gaps. The placement determines
// the bytes in fast memory, the necessary moves, and the seconds when every move is synchronous.
//
// A tensor that is in fast memory during a gap is there at the uses on both sides. A tensor that is moved to fast
// memory keeps its copy in slow memory until it is written. So it can leave fast memory without cost before it is
// written. What a use writes in fast memory is saved once.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

/// The path of one tensor: 1 while it is in fast memory.
struct TensorPath {
  std::vector<char> use, gap;  ///< gap[i]: before use i; gap[0] of a tensor that is made is 0
  bool operator==(const TensorPath&) const = default;
};

using Placing = std::vector<TensorPath>;  ///< indexed by tensor

/// The path of a tensor that is always in one memory.
TensorPath constant_path(const PlacementQuestion& question, std::uint32_t t, bool fast);
/// Whether each tensor is always in one memory. This may be false even without moves: a tensor that is given at the
/// start may begin in fast memory, and leaves it without cost.
bool is_static(const PlacementQuestion& question, const Placing& placing);
/// Two placements: everything in slow memory, except what is pinned to fast memory; and everything in fast memory,
/// except what is pinned to slow memory.
Placing all_slow(const PlacementQuestion& question);
Placing all_fast(const PlacementQuestion& question);

/// A move before kernel `begin`. It is synchronous if `needed` is the same kernel; otherwise it
/// runs while kernels run, and ends before kernel `needed` begins.
struct PlacementMove {
  std::uint32_t tensor = none;
  bool to_fast = true;
  std::uint32_t begin = 0, needed = 0;
  /// The use for which the tensor is fetched, or the use after the gap in which the tensor is saved. It is 0 for a save
  /// after the last use.
  std::size_t use = 0;
  bool synchronous() const { return begin == needed; }
};

/// Returns all moves, as synchronous ones: a fetch directly before a use, and a save directly after one. They are in
/// the order of `begin`, with saves before fetches.
std::vector<PlacementMove> moves_of(const PlacementQuestion& question, const Placing& placing);

/// The number of times that a tensor is fetched and saved on this path.
struct PathMoves {
  std::size_t fetches = 0, saves = 0;
};
PathMoves moves_of_path(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path);

/// For each kernel, which of its operands are in slow memory.
std::vector<std::vector<char>> slow_operands(const PlacementQuestion& question,
                                             const Placing& placing);
/// Seconds of each kernel.
std::vector<double> kernel_seconds(const PlacementQuestion& question, const Placing& placing);

/// Bytes in fast memory during each kernel.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question, const Placing& placing);

/// The seconds of kernels and synchronous moves, one after the other.
double synchronous_seconds(const PlacementQuestion& question, const Placing& placing);

/// Throws Infeasible where fast memory cannot hold what the placement puts there; the message names
/// the kernel, the memory and the largest tensors. `what` names the placement in the message.
void check_capacity(const PlacementQuestion& question, const Placing& placing,
                    std::int64_t capacity, const std::string& what);

}  // namespace sluice
