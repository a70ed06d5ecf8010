// Placements as candidates for the judge: the ways to place tensors, for each strategy for fates that is compared.
#pragma once

#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// Returns candidates of training, one for each element of `ways` (ways to place the tensors). A strategy that searches
/// chooses its fates for the first memory alone. With other fates, more tensors may have room in both memories
/// together. So the candidates of a strategy that searches include the candidates of all strategies that treat every
/// stage alike. Returns no candidates if the memories or the cost model do not have what a placement needs. Everything
/// that `request` refers to must outlive the candidates.
std::vector<Candidate> placed_candidates(const PolicyRequest& request,
                                         const CommonParameters& common, const std::string& policy,
                                         const std::vector<std::string>& ways);

/// Adds the name of the placement to each fact that was proven only for this placement. These facts are the bounds and
/// the gap of a strategy that searches: they do not hold for the other placements.
Candidate proven_for(const std::string& placement, Candidate candidate);

}  // namespace sluice
