// Translates a model and a workload into a placement problem. Micro-batches go through all layers: forward, and in
// training also backward and through the update. Each pass of a layer is a kernel. Each tensor of a kernel that is on
// the device may be in either memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/placement/memories.hpp"
#include "planning/request.hpp"

namespace sluice {

/// A kernel of the problem, as the cost model sees it.
struct PlacedKernel {
  ActionKind kind = ActionKind::forward;
  std::uint32_t layer = none;
  std::int64_t micro_batch = -1;  ///< -1: an update
  /// The query's operands have no memories yet. None: the kernel computes nothing, and makes the gradients
  /// that no backward pass makes.
  std::optional<Query> query = {};
  std::vector<std::size_t> operand_of = {};  ///< for each operand of the query: the kernel's own
};

struct PlacedKernels {
  PlacementProblem problem;
  std::vector<PlacedKernel> kernels;  ///< indexed by kernel of the problem
};

/// What is computed, and how often.
struct PlacedWork {
  const Pricing& pricing;
  const Workload& workload;
  std::string name;
  std::int64_t micro_batches = 1;  ///< all of them; in training, those of one update
};

/// Weights, optimizer state and caches are there from the start to the end, and inputs are given. Stages and fates have
/// no effect: nothing is computed twice or left out. Throws InputError.
PlacedKernels placed_kernels(const PlacedWork& work, const TwoMemories& memories);

}  // namespace sluice
