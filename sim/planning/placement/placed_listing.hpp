// The plan of a policy that uses two memories of the device. Each tensor is in one of the two memories for its whole
// life, and kernels read and write it there. Only inputs, answers, offloaded tensors, and weights that begin in the
// other memory are moved.
#pragma once

#include "planning/draft.hpp"
#include "planning/placement/placed_question.hpp"

namespace sluice {

struct PlacedListing {
  const PolicyRequest& request;
  const CommonParameters& common;
  std::string policy;  ///< the name of the plan
  const PlacedQuestion& asked;
  const Placing& placing;  ///< each tensor is always in one memory
};

/// Returns a plan that computes one micro-batch after the other. An offloaded tensor is saved after the stage that made
/// it, and comes back during the kernel before its next use.
Draft list_placed(const PlacedListing& listing);

}  // namespace sluice
