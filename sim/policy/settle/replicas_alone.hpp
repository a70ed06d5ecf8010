// The candidate of replicas that each choose as if they ran alone. Its plans are compared by runs of all replicas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "planning/candidate.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns whether a step of inference has so many passes of layers that fewer plans of replicas are compared.
bool is_long_step(const PolicyRequest& request);

/// Sets the limit of the memory of each device to the bytes that the plan of this device needs, if it runs alone and
/// has no limit yet. So a plan that waits for memory is the same plan in every memory of at least these bytes. Returns
/// the most bytes that one of the plans needs.
std::int64_t keep_within_need(std::vector<Plan>& parts, const std::vector<std::string>& devices);

/// What is known about replicas that choose as if they ran alone.
struct ReplicasAlone {
  bool choose = false;  ///< whether a replica has choices
  /// Compares plans of all replicas, with choices for the whole memory and for less memory (replica_candidates.hpp).
  /// Empty if no choices fit.
  std::optional<Candidate> candidate = {};
};

/// Returns the candidate with these keys for `policy:`. `text` says what differs between the keys and the scenario. The
/// candidate holds references to `policy` and `request`. Throws InputError if the keys are invalid, and Infeasible if no
/// choices fit.
ReplicasAlone replicas_alone(const Policy& policy, const PolicyRequest& request, Keys keys,
                             const std::string& text);

}  // namespace sluice
