// A placement: for each tensor, where it lies at each use and in each gap between uses; what it
// takes of the fast memory, what has to be moved for it, and what it comes to when every move is
// synchronous.
//
// A tensor that is in fast memory in a gap is there at the uses on both sides. One that comes to
// fast memory keeps its copy in slow memory until it is written: so it leaves at no cost, and a
// version that was written in fast memory is saved once.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

/// Of one tensor: 1 where it is in fast memory.
struct TensorPath {
  std::vector<char> use, gap;  ///< gap[i]: before use i; gap[0] of a tensor that is made is 0
  bool operator==(const TensorPath&) const = default;
};

using Placing = std::vector<TensorPath>;  ///< by tensor

/// The path of a tensor that is in one memory all the time.
TensorPath constant_path(const PlacementQuestion& question, std::uint32_t t, bool fast);
/// Whether each tensor is in one memory all the time. Without moves alone it may not be: one that
/// is given may begin in fast memory, and leave it at no cost.
bool is_static(const PlacementQuestion& question, const Placing& placing);
/// Everything in slow memory, but what is pinned to the fast one; everything in fast memory, but
/// what is pinned to the slow one.
Placing all_slow(const PlacementQuestion& question);
Placing all_fast(const PlacementQuestion& question);

/// A move, before kernel `begin`: where `needed` is the same, it is synchronous; else it goes on
/// while kernels run, and has ended before kernel `needed` begins.
struct PlacementMove {
  std::uint32_t tensor = none;
  bool to_fast = true;
  std::uint32_t begin = 0, needed = 0;
  std::size_t use = 0;  ///< fetched for this one, or saved in the gap before it; 0: behind the last
  bool synchronous() const { return begin == needed; }
};

/// All synchronous: fetched right before a use, saved right after one. In the order of `begin`,
/// saves before fetches.
std::vector<PlacementMove> moves_of(const PlacementQuestion& question, const Placing& placing);

/// How often a tensor is fetched and saved on this path.
struct PathMoves {
  std::size_t fetches = 0, saves = 0;
};
PathMoves moves_of_path(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path);

/// By kernel: which operands are slow.
std::vector<std::vector<char>> slow_operands(const PlacementQuestion& question,
                                             const Placing& placing);
/// Seconds of each kernel.
std::vector<double> kernel_seconds(const PlacementQuestion& question, const Placing& placing);

/// Bytes in fast memory during each kernel.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question, const Placing& placing);

/// Kernels and synchronous moves, one after the other.
double synchronous_seconds(const PlacementQuestion& question, const Placing& placing);

/// Throws Infeasible where fast memory does not hold what the placement puts there: names the
/// kernel, the memory and the largest tensors. `what`: of whom, for the message.
void check_capacity(const PlacementQuestion& question, const Placing& placing,
                    std::int64_t capacity, const std::string& what);

}  // namespace sluice
