// Translates a model and a workload into a placement problem. Each micro-batch goes forward through all layers. In
// training, each micro-batch then goes backward, and an update follows after all micro-batches. Each pass of a layer is
// a kernel. Each tensor that a kernel uses on the device may be in the fast memory or in the slow memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fates/tape.hpp"
#include "planning/placement/memories.hpp"
#include "planning/request.hpp"

namespace sluice {

/// What the planner knows about a kernel of the problem: its work for the cost model, and its saves and loads.
struct PlacedKernel {
  ActionKind kind = ActionKind::forward;
  std::uint32_t layer = none;
  std::int64_t micro_batch = -1;  ///< -1 for an update
  /// The query for the kernel's price. Its operands do not yet name a memory. Only the kernel "loss" has no query. It
  /// makes the gradients that no backward pass makes, and takes no time.
  std::optional<Query> query = {};
  /// Indexed by operand of the query: the index of the operand's tensor in PlacementProblem::Kernel::operands.
  std::vector<std::size_t> operand_of = {};
  std::vector<std::uint32_t> saves = {};  ///< the tensors that are offloaded after the kernel
  /// The offloaded tensors that are loaded from host memory again. Their loads begin before the kernel.
  std::vector<std::uint32_t> fetches = {};
  /// Operands of the problem's kernel that the computation does not use. They are operands because a transfer moves
  /// them while the kernel runs.
  std::vector<std::uint32_t> passing = {};
};

struct PlacedKernels {
  PlacementProblem problem;
  std::vector<PlacedKernel> kernels;  ///< indexed by kernel of the problem
  /// Indexed by tensor. A saved tensor that comes back from host memory counts as a new tensor. Its `copy_of` is the
  /// saved tensor. For any other tensor, `copy_of` is `none`.
  std::vector<std::uint32_t> copy_of;
};

/// The computation whose tensors are placed.
struct PlacedWork {
  const Pricing& pricing;
  const Workload& workload;
  std::string name;
  /// How many micro-batches run one after the other. In training: the number of micro-batches per update.
  std::int64_t micro_batches = 1;
  /// The operations of one micro-batch, each on one stage. If the pointer is null, all activations are kept, and the
  /// division into stages has no effect.
  const Tape* tape = nullptr;
  /// Whether selective recomputation drops tensors (Backward::selective). If so, the layers that made these tensors are
  /// computed again.
  bool selective = false;
};

/// Returns the problem of placing the tensors of this work. Weights, optimizer state and caches are on the device
/// during the whole run. Inputs are on the device from the start of their micro-batch to their last use. A tensor
/// that is recomputed, or that comes back from host memory, counts as a new tensor. Throws InputError.
PlacedKernels placed_kernels(const PlacedWork& work, const TwoMemories& memories);

}  // namespace sluice
