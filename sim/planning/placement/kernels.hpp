// Translates a model and a workload into a placement problem. Micro-batches go through all layers: forward, and in
// training also backward and through the update. Each pass of a layer is a kernel. Each tensor of a kernel that is on
// the device may be in either memory.
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
  /// The query's operands have no memories yet. If this is empty, the kernel computes nothing, and makes the gradients
  /// that no backward pass makes.
  std::optional<Query> query = {};
  std::vector<std::size_t> operand_of = {};  ///< the kernel's operand for each of the query
  std::vector<std::uint32_t> saves = {};     ///< tensors that are offloaded after it
  std::vector<std::uint32_t> fetches = {};   ///< offloaded tensors that come back from before it on
  std::vector<std::uint32_t> passing =
      {};  ///< operands that it does not use: they are on their way
};

struct PlacedKernels {
  PlacementProblem problem;
  std::vector<PlacedKernel> kernels;  ///< indexed by kernel of the problem
  /// A tensor that was offloaded and came back is a tensor of its own. For such a tensor, this is the tensor that was
  /// saved. For any other tensor, this is `none`. Indexed by tensor.
  std::vector<std::uint32_t> copy_of;
};

/// What is computed, and how often.
struct PlacedWork {
  const Pricing& pricing;
  const Workload& workload;
  std::string name;
  std::int64_t micro_batches = 1;  ///< one after the other; in training, the number per update
  /// The operations of a micro-batch on the stages. If this is null, everything is kept, and stages have no effect.
  const Tape* tape = nullptr;
  /// Whether selective recomputation drops tensors (Backward::selective), so that their layers run again.
  bool selective = false;
};

/// Returns the problem of placing the tensors of this work. Weights, optimizer state and caches stay during the whole
/// run. Inputs are given, and stay until their last use. A tensor that is recomputed, or that comes back from host
/// memory, is a further tensor. Throws InputError.
PlacedKernels placed_kernels(const PlacedWork& work, const TwoMemories& memories);

}  // namespace sluice
