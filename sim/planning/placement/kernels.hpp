// Translates a model and a workload into a placement problem. Each micro-batch goes forward through all layers and, in
// training, then backward. In training, an update follows after the micro-batches. Each pass of a layer is a kernel.
// Each tensor that a kernel uses on the device may be in the fast memory or in the slow memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fates/tape.hpp"
#include "planning/placement/memories.hpp"
#include "planning/request.hpp"

namespace sluice {

/// A kernel of the problem, as the cost model sees it.
struct PlacedKernel {
  ActionKind kind = ActionKind::forward;
  std::uint32_t layer = none;
  std::int64_t micro_batch = -1;  ///< -1 for an update
  /// The operands of the query have no memories yet. A kernel with an empty query computes nothing: it makes the
  /// gradients that no backward pass makes.
  std::optional<Query> query = {};
  /// For each operand of the query, the index of its tensor in the kernel's operands.
  std::vector<std::size_t> operand_of = {};
  std::vector<std::uint32_t> saves = {};  ///< the tensors that are offloaded after the kernel
  /// Offloaded tensors whose load from host memory begins before the kernel.
  std::vector<std::uint32_t> fetches = {};
  /// Operands that the kernel itself does not use. A transfer moves them while the kernel runs.
  std::vector<std::uint32_t> passing = {};
};

struct PlacedKernels {
  PlacementProblem problem;
  std::vector<PlacedKernel> kernels;  ///< indexed by kernel of the problem
  /// Indexed by tensor. A saved tensor that comes back from host memory counts as a new tensor. Its `copy_of` is the
  /// saved tensor. For any other tensor, `copy_of` is `none`.
  std::vector<std::uint32_t> copy_of;
};

/// The work whose tensors are placed.
struct PlacedWork {
  const Pricing& pricing;
  const Workload& workload;
  std::string name;
  /// The number of micro-batches, which run one after the other. In training, this is the number of micro-batches per
  /// update.
  std::int64_t micro_batches = 1;
  /// The operations of a micro-batch on the stages. If the tape is null, all activations are kept, and stages have no
  /// effect.
  const Tape* tape = nullptr;
  /// Whether selective recomputation drops tensors (Backward::selective). Their layers then run again.
  bool selective = false;
};

/// Returns the problem of placing the tensors of this work. Weights, optimizer state and caches are on the device
/// during the whole run. Inputs are on the device from the start of their micro-batch to their last use. A tensor
/// that is recomputed, or that comes back from host memory, counts as a new tensor. Throws InputError.
PlacedKernels placed_kernels(const PlacedWork& work, const TwoMemories& memories);

}  // namespace sluice
