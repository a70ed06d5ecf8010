// Candidates for equal replicas that share links or sum gradients in training. Each way in which the first replica can
// make its choices becomes a plan of all replicas, and the judge compares the runs of these plans. So a way that is fast
// for a replica alone, but slow for all replicas together, is not chosen. The ways do not depend on the capacity of a
// memory. Replicas also count as equal if only the capacities of their devices differ. Their plans then fit into the
// smallest memory.
#pragma once

#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns these candidates. `policy` plans a replica, and `keys` has the parameters of the replicating policy and
/// those of `policy`. The result is empty if replicas are not equal or do not delay each other, in inference, if the
/// replicas leave nothing open, and in two cases in which a replica chooses by the capacity: a search for fates, and
/// placements in two memories. `text` says what differs between `keys` and the scenario. The request must outlive the
/// candidates. Throws InputError, Infeasible. The candidates leave out ways that throw these errors.
std::vector<Candidate> candidates_of_all_replicas(const Policy& policy,
                                                  const PolicyRequest& request, const Keys& keys,
                                                  const std::string& text);

}  // namespace sluice
