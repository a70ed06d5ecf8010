// Candidates for replicas that delay each other. Each replica makes its choices as if the other replicas did not slow
// it down. So the choices for a larger memory may be worse for all replicas together than the choices for a smaller
// memory. Therefore there are three kinds of candidates:
// - If all replicas can have the same plans (plan_alike()), each way of a replica is simulated as a run of all
//   replicas, in training, and for placements in two memories also in inference (all_replicas.hpp).
// - In training, if the devices are not alike and share links, combinations of the ways of all replicas are simulated
//   (unequal_replicas.hpp).
// - Otherwise, in inference and in two memories, a candidate also simulates the runs with the choices for each smaller
//   memory, and for placements with less freedom.
#pragma once

#include <vector>

#include "planning/candidate.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns mappings for `policy:`, one for each way to make the open choices of all replicas (ways_of_replicas()).
/// `replicating` is the policy that replicates another one. Returns nothing without few_replicas(), and if the replicas
/// do not delay each other. If the scenario leaves `overlap` open, each way is also returned without overlap. This may
/// be faster, because with overlap the first loads of all replicas share the link, so all replicas begin to compute
/// late.
std::vector<Value> replica_alternatives(const Policy& replicating, const PolicyRequest& request,
                                        const Reader& parameters);

/// Returns the candidates of replicas that delay each other. In training, these are the candidates of
/// candidates_of_all_replicas() with and without overlap. Where that function returns nothing, there is one candidate
/// for each of the mappings above. If the devices are not alike and share links, this is
/// candidate_of_unequal_replicas(). Otherwise it compares plans of all replicas. First, each replica makes its choices
/// as if it had its share of the bandwidth of the links, and then as if it had the whole bandwidth. In inference and in
/// two memories, choices are both times made for the whole memory, then for one byte less than the last choices need,
/// and so on, until a lower bound says that less memory is too slow. So there are at most as many plans as there are
/// choices that need different numbers of bytes. The candidates hold references to `request`. Returns nothing if the
/// replicas compare no choices, if no choices fit without waits for memory, or if it would take too long to make all
/// these plans.
std::vector<Candidate> replica_candidates(const Policy& replicating, const PolicyRequest& request,
                                          const Reader& parameters);

}  // namespace sluice
