// Placements as candidates for the judge. Each strategy for fates is combined with each way to place tensors.
#pragma once

#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/common_parameters.hpp"
#include "planning/draft.hpp"

namespace sluice {

/// Returns candidates of training. `ways` lists the ways to place the tensors. A strategy that searches chooses its
/// fates as if the device had only the first memory. In both memories together, other fates may be faster. So
/// strategies that treat every stage alike are compared, too. The result is empty if a placement is impossible with
/// these memories or this cost model. Everything that `request` refers to must outlive the candidates.
std::vector<Candidate> placed_candidates(const PolicyRequest& request,
                                         const CommonParameters& common, const std::string& policy,
                                         const std::vector<std::string>& ways);

/// Adds two facts to a plan of training with the placement method `way`, if it fits: a lower bound of its seconds with any
/// fates, and the gap to this bound.
void say_gap(const PolicyRequest& request, const CommonParameters& common,
             const std::string& policy, const std::string& way, Draft& draft);

/// Adds the name of the placement to the facts about the candidate's bounds and gap, because a strategy that searches
/// has proven them only for this placement.
Candidate proven_for(const std::string& placement, Candidate candidate);

}  // namespace sluice
