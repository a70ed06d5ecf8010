// Chooses a placement for a run. It searches a placement for each of several sizes of fast memory, and takes the
// placement whose run has the fewest simulated seconds (placed_listing.hpp says what such a run does).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fates/strategy.hpp"
#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// The placement methods that a plan can have.
const std::vector<std::string>& placements_of_plans();
/// Those of them that are compared if the scenario names none: those that never move a tensor. To search for moves takes
/// many times as long.
const std::vector<std::string>& placements_compared();

struct PlacedRun {
  const PolicyRequest& request;
  const CommonParameters& common;
  const FateChoice& fates;  ///< see placed_fates()
  std::string policy, way;
  double worth = std::numeric_limits<double>::infinity();  ///< a slower run is of no use
};

/// One micro-batch after the other, with these fates. The result is empty if no placement was found whose run is faster
/// than `worth`. The run never uses more of fast memory than the device has: an input and an answer may be in transfer
/// in addition to what is placed there. More fast memory never makes the simulated run slower, as long as the way of
/// placing and the fates are the same. Throws InputError (no two memories, a cost model without a price) and Infeasible
/// (slow memory cannot hold everything).
std::optional<Draft> placed_draft(const PlacedRun& run);

}  // namespace sluice
