// The plan of a policy with two memories of the device. Each tensor lies in one of them, and kernels read and write it
// there. Inputs, answers, weights that begin in the other memory, and what is offloaded are moved. Other tensors move
// only if the schedule has moves.
#pragma once

#include "placement/schedule.hpp"
#include "planning/draft.hpp"
#include "planning/placement/placed_question.hpp"

namespace sluice {

struct PlacedListing {
  const PolicyRequest& request;
  const CommonParameters& common;
  std::string policy;  ///< the plan is named after it
  const PlacedQuestion& asked;
  /// If there are moves, repeatable() has returned it. A tensor without moves stays where its first use is.
  const PlacementSchedule& schedule;
};

/// One micro-batch after the other. What is offloaded is saved after the stage that made it, and comes
/// back while the kernel before its next use computes.
Draft list_placed(const PlacedListing& listing);

}  // namespace sluice
