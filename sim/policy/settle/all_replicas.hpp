// Candidates for equal replicas that share links or sum gradients, in training, and for placements in two memories also
// in inference. Each way in which the first replica can make its choices becomes a plan of all replicas, and the judge
// compares the runs of these plans. So a way that is fast for a replica alone, but slow for all replicas together, is
// not chosen. The ways do not depend on the capacity of a memory. So more memory, or a placement method with more
// freedom, does not make the run slower. In one memory, replicas also count as equal if only the capacities of their
// devices differ. Their plans then fit into the smallest memory. In two memories, in inference, replicas with different
// numbers of batches may have the same placement, too (plan_alike()).
#pragma once

#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Which candidates are wanted.
struct TogetherWanted {
  bool only_placed = false;  ///< only placements in two memories
  /// Only the policy's plan for these keys, in inference in two memories. The policy must offer no candidates.
  bool only_plan = false;
};

/// Returns these candidates. `policy` plans a replica, and `keys` has the parameters of the replicating policy and
/// those of `policy`. The result is empty if plan_alike() is false, in other cases of inference than those above, if
/// the replicas leave nothing open in training, and if a search for fates makes choices by the capacity. `text` says what
/// differs between `keys` and the scenario. The request must outlive the candidates. Throws InputError, Infeasible. The
/// candidates leave out ways that throw these errors.
std::vector<Candidate> candidates_of_all_replicas(const Policy& policy,
                                                  const PolicyRequest& request, const Keys& keys,
                                                  const std::string& text,
                                                  const TogetherWanted& wanted = {});

}  // namespace sluice
