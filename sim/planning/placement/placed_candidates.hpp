// Placements as candidates for the judge. Each strategy for fates is combined with each way to place tensors.
#pragma once

#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// Returns candidates of training. `ways` lists the ways to place the tensors. A strategy that searches chooses its
/// fates for the first memory alone. With other fates, more tensors may have room in both memories together. So
/// strategies that treat every stage alike are compared, too. The result is empty if a placement is impossible with
/// these memories or this cost model. Everything that `request` refers to must outlive the candidates.
std::vector<Candidate> placed_candidates(const PolicyRequest& request,
                                         const CommonParameters& common, const std::string& policy,
                                         const std::vector<std::string>& ways);

/// Adds the name of the placement to each fact that was proven only for this placement. These facts are the bounds and
/// the gap of a strategy that searches.
Candidate proven_for(const std::string& placement, Candidate candidate);

}  // namespace sluice
