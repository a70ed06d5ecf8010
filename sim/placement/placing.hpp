// A placement says for each tensor whether it is in fast or in slow memory, at each of its uses and in each gap. A gap
// is the kernels between two uses of the tensor. The path of a tensor is what the placement says about this tensor. The
// bytes in fast memory and the necessary moves follow from the placement. The seconds of a run whose moves are all
// synchronous follow from it, too.
//
// A tensor in fast memory during a gap is also there at the uses before and after the gap. A tensor that is moved to
// fast memory keeps its copy in slow memory until a kernel writes the tensor. Until then, the tensor can leave fast
// memory without being saved. What a use writes in fast memory is saved at most once.
#pragma once

#include "placement/problem.hpp"

namespace sluice {

/// The path of one tensor. An element is 1 if the tensor is in fast memory at this use or in this gap, and
/// 0 if it is in slow memory.
struct TensorPath {
  std::vector<char> use, gap;  ///< gap[i] is before use i; gap[0] is 0 if a kernel makes the tensor
  bool operator==(const TensorPath&) const = default;
};

using Placing = std::vector<TensorPath>;  ///< indexed by tensor

/// Returns the path of a tensor that is always in one memory.
TensorPath constant_path(const PlacementQuestion& question, std::uint32_t t, bool fast);
/// Returns whether each tensor is in the same memory all the time. The result may be false although the placement has
/// no moves: a tensor that is given at the start also has a copy in slow memory, and later uses may read this copy.
bool is_static(const PlacementQuestion& question, const Placing& placing);
/// These two functions place all tensors in slow memory, or all tensors in fast memory. But a pinned tensor stays in
/// the memory to which it is pinned.
Placing all_slow(const PlacementQuestion& question);
Placing all_fast(const PlacementQuestion& question);

/// A move that begins before kernel `begin`. If `needed` equals `begin`, the move is synchronous: no kernel runs during
/// the move. Otherwise the copy engine makes the move while kernels run, and kernel `needed` waits for the end of the
/// move. The copy engine may begin a save some kernels after the last use: until its end, the tensor is in fast memory.
struct PlacementMove {
  std::uint32_t tensor = none;
  bool to_fast = true;
  std::uint32_t begin = 0, needed = 0;
  /// For a fetch: the use that needs the tensor in fast memory. For a save: the use at the end of the gap in which the
  /// tensor is saved, or 0 for a save after the last use.
  std::size_t use = 0;
  bool synchronous() const { return begin == needed; }
};

/// These two functions return synchronous moves of a tensor: the fetch before use i, and the save in the gap before use
/// i. In the gap before the first use, the save is after the last use.
PlacementMove fetch_before(const PlacementQuestion& question, std::uint32_t t, std::size_t i);
PlacementMove save_in(const PlacementQuestion& question, std::uint32_t t, std::size_t i);
/// Returns the moves of one tensor on its path as synchronous moves: first its fetches, and then its saves.
std::vector<PlacementMove> moves_of(const PlacementQuestion& question, std::uint32_t t,
                                    const TensorPath& path);
/// Returns all moves of a placement as synchronous moves. A fetch is directly before a use, and a save is directly
/// after a use. The moves are sorted by `begin`. Before one kernel, saves come before fetches.
std::vector<PlacementMove> moves_of(const PlacementQuestion& question, const Placing& placing);

/// How often a tensor is fetched on its path, and how often it is saved.
struct PathMoves {
  std::size_t fetches = 0, saves = 0;
};
PathMoves moves_of_path(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path);

/// Returns for each kernel and each of its operands whether the operand is in slow memory.
std::vector<std::vector<char>> slow_operands(const PlacementQuestion& question,
                                             const Placing& placing);
/// Returns the seconds of each kernel under this placement.
std::vector<double> kernel_seconds(const PlacementQuestion& question, const Placing& placing);

/// Returns the bytes in fast memory during each kernel.
std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question, const Placing& placing);
/// Returns the bytes for which slow memory must have room during each kernel: those of all tensors that exist then and
/// are not in fast memory for their whole life.
std::vector<std::int64_t> slow_bytes(const PlacementQuestion& question, const Placing& placing);

/// Returns whether slow memory has room for the placement.
bool fits_slow(const PlacementQuestion& question, const Placing& placing);

/// Returns the seconds of a run whose moves are all synchronous: the sum over all kernels and moves.
double synchronous_seconds(const PlacementQuestion& question, const Placing& placing);

/// Throws Infeasible if fast memory, of `capacity` bytes, has no room for the tensors that the placement puts there.
/// The message names the kernel, the memory and the largest tensors. `what` is the name of the placement in the
/// message.
void check_capacity(const PlacementQuestion& question, const Placing& placing,
                    std::int64_t capacity, const std::string& what);
/// The same for slow memory, whose capacity is in the problem.
void check_slow_capacity(const PlacementQuestion& question, const Placing& placing,
                         const std::string& what);

}  // namespace sluice
