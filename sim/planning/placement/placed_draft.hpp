// Chooses a placement for a run. It searches for a placement for each of several sizes of fast memory, and takes the
// placement whose run has the fewest simulated seconds (placed_listing.hpp describes such a run).
#pragma once

#include <string>
#include <vector>

#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// Returns the placement methods that never move a tensor. Only these methods can be used in plans.
const std::vector<std::string>& placements_of_plans();

/// Throws the same errors as placed_draft() if memory is too small, but without a search.
void require_placeable(const PolicyRequest& request, const CommonParameters& common);

/// Returns the plan of a run that computes one micro-batch after the other, with the fates of the scenario. The run
/// always fits into fast memory, also while an input and an answer are in transfer in addition to the placed tensors.
/// More fast memory never makes the simulated run slower, if `way` is the same.
/// Throws InputError if there are no two memories or the cost model has no price. Throws Infeasible if slow memory
/// cannot hold everything.
Draft placed_draft(const PolicyRequest& request, const CommonParameters& common,
                   const std::string& policy, const std::string& way);

}  // namespace sluice
