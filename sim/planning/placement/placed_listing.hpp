// The plan of a policy whose tensors lie in two memories of the device: each in one of them for its
// whole life. Kernels read and write them where they lie; nothing moves but inputs, weights that do
// not begin where they are wanted, and answers.
#pragma once

#include "planning/draft.hpp"
#include "planning/placement/placed_question.hpp"

namespace sluice {

struct PlacedListing {
  const PolicyRequest& request;
  const Common& common;
  std::string policy;  ///< its name becomes the plan's
  const PlacedQuestion& asked;
  const Placing& placing;  ///< constant paths
};

/// One micro-batch after the other, all kept.
Draft list_placed(const PlacedListing& listing);

}  // namespace sluice
