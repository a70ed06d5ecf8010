// The program of a policy that uses two memories of the device, and its plan. Kernels read and write each tensor in the
// memory in which it is. If the schedule has no moves, the program moves only the following tensors: inputs, answers,
// offloaded tensors, and weights that are in another memory at the start of the run.
#pragma once

#include "placement/cached.hpp"
#include "placement/schedule.hpp"
#include "planning/draft.hpp"
#include "planning/placement/placed_question.hpp"

namespace sluice {

struct PlacedListing {
  const PolicyRequest& request;
  const CommonParameters& common;
  std::string policy;  ///< the name of the plan
  const PlacedQuestion& asked;
  /// A tensor without moves is always in the memory of its first use.
  const PlacementSchedule& schedule;
  /// If fast memory is a hardware cache of slow memory, `cache` is a round of kernels with this cache, and
  /// `cache_bytes` is its size. Then the schedule must have all tensors in slow memory. Even the first round finds in
  /// the cache what an earlier round would have left there.
  const CachedRun* cache = nullptr;
  std::int64_t cache_bytes = 0;
};

/// Returns a plan that computes one micro-batch after the other. A tensor that is offloaded is saved after its stage,
/// and loaded again during the kernel before its next use.
Draft list_placed(const PlacedListing& listing);

}  // namespace sluice
