// A model and a workload as a question of placement: micro-batches through all layers, forward, and
// in training backward and through the update; each pass of a layer is a kernel, and each tensor
// that is on the device for it may lie in either memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/placement/memories.hpp"
#include "planning/request.hpp"

namespace sluice {

/// A kernel of the question as the cost model sees it.
struct PlacedKernel {
  ActionKind kind = ActionKind::forward;
  std::uint32_t layer = none;
  std::int64_t micro_batch = -1;  ///< -1: an update
  /// Its operands have no memories yet. None: it computes nothing, and makes the gradients that no
  /// backward pass makes.
  std::optional<Query> query = {};
  std::vector<std::size_t> operand_of = {};  ///< by operand of the query: of the problem's kernel
};

struct PlacedKernels {
  PlacementProblem problem;
  std::vector<PlacedKernel> kernels;  ///< by kernel of the problem
};

/// What is computed, and how often.
struct PlacedWork {
  const Pricing& pricing;
  const Workload& workload;
  std::string name;
  std::int64_t micro_batches = 1;  ///< one after the other; in training before one update
};

/// Weights, optimizer state and caches stay; inputs are given. Stages and fates have no say:
/// nothing is computed twice or left out. Throws InputError.
PlacedKernels placed_kernels(const PlacedWork& work, const TwoMemories& memories);

}  // namespace sluice
