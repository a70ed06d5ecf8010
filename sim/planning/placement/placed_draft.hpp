// Chooses a placement for a run. It searches a placement for each of several sizes of fast memory, and takes the
// placement whose run has the fewest simulated seconds (placed_listing.hpp says what such a run does).
#pragma once

#include <string>
#include <vector>

#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// The placement methods that a plan can have: those that never move a tensor.
const std::vector<std::string>& placements_of_plans();

/// Throws what `placed_draft` would throw when memory is too small, but without a search.
void require_placeable(const PolicyRequest& request, const CommonParameters& common);

/// One micro-batch after the other, with the fates of the scenario. The run never uses more of fast memory than the
/// device has: an input and an answer may be in transfer in addition to what is placed there. More
/// fast memory never makes the simulated run slower, as long as the way of placing is the same.
/// Throws InputError (no two memories, a cost model without a price) and Infeasible (slow memory
/// cannot hold everything).
Draft placed_draft(const PolicyRequest& request, const CommonParameters& common,
                   const std::string& policy, const std::string& way);

}  // namespace sluice
