// The plan of a policy with two memories of the device. Each tensor lies in one of them for its
// whole life, and kernels read and write it there. Only inputs, answers, weights that begin in
// the other memory, and what is offloaded are moved.
#pragma once

#include "planning/draft.hpp"
#include "planning/placement/placed_question.hpp"

namespace sluice {

struct PlacedListing {
  const PolicyRequest& request;
  const CommonParameters& common;
  std::string policy;  ///< the plan is named after it
  const PlacedQuestion& asked;
  const Placing& placing;  ///< every path stays in one memory
};

/// One micro-batch after the other. What is offloaded is saved after the stage that made it, and comes
/// back while the kernel before its next use computes.
Draft list_placed(const PlacedListing& listing);

}  // namespace sluice
