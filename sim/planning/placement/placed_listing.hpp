// The plan of a policy that uses two memories of the device. Each tensor is in one of the two memories, and kernels
// read and write the tensor there. A schedule may have no moves. Only the following tensors are then moved: inputs,
// answers, offloaded tensors, and weights that begin in the other memory.
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
  /// If the schedule has moves, it must come from repeatable(). A tensor without moves stays in the memory of its first
  /// use.
  const PlacementSchedule& schedule;
  /// Fast memory may be a hardware cache of slow memory. These members are then a round of the cache, and its size in
  /// bytes. The schedule must have all tensors in slow memory. The first round begins with the cache as a round leaves
  /// it.
  const CachedRun* cache = nullptr;
  std::int64_t cache_bytes = 0;
};

/// Returns a plan that computes one micro-batch after the other. An offloaded tensor is saved after its stage. It comes
/// back during the kernel before its next use.
Draft list_placed(const PlacedListing& listing);

}  // namespace sluice
