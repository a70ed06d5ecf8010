// The key `placement` of a policy: its field, and the plans for each of its values. Two kinds of policies have this
// key. A policy of the first kind keeps all weights on the device. A plan with placements of single tensors can replace
// its own plan. A policy of the second kind lets weights take turns. `placement` then gives the home of these weights,
// or places the tensors of the policy's plan (placed_turns.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

/// Returns the field for a policy that keeps all weights on the device.
Field placement_field();

/// Returns whether `placement` names a placement of single tensors. If so, a policy that keeps all weights on the
/// device has only the plan of placed_plan().
bool places(const Reader& parameters);

/// Returns the plan of the policy with the placement `way` of single tensors. Throws InputError (at `placement`) if the
/// placement is not possible. Throws Infeasible if slow memory cannot hold all tensors.
Draft placed_plan(const PolicyRequest& request, const Reader& parameters, const std::string& policy,
                  const std::string& way);

/// Returns whether to make plans that offload tensors to the second memory. `backing` asks for such
/// plans, and `auto` compares such plans with other plans. Throws InputError at `placement`.
bool backs(const PolicyRequest& request, const Reader& parameters);

/// Returns the candidates of training for each home of offloaded tensors. With `auto`, placements of single tensors are
/// candidates, too. The request and the parameters must outlive the candidates.
std::vector<Candidate> candidates_of_placements(const PolicyRequest& request,
                                                const Reader& parameters, const std::string& policy,
                                                const PlansForMachine& of_policy);

/// Returns the mappings for `policy:` that are compared. In inference, `maps` holds the mappings that leave the
/// placement open. In training, these mappings are for a strategy for fates without candidates.
std::vector<Value> alternatives_of_placements(const PolicyRequest& request,
                                              const Reader& parameters, std::vector<Value> maps);

/// Returns the field for a policy whose weights take turns on the device.
Field home_field();

/// Return the plan and the candidates of a policy whose weights take turns, for the value of `placement`. `of_policy`
/// plans for one machine. The request and the parameters must outlive the candidates. Throw InputError at `placement`.
/// Throw Infeasible if the tensors do not fit.
Draft plan_of_turns(const PolicyRequest& request, const Reader& parameters,
                    const PlansForMachine& of_policy);
std::vector<Candidate> candidates_of_turns(const PolicyRequest& request, const Reader& parameters,
                                           const PlansForMachine& of_policy);

/// Returns the mappings for `policy:` that compare both homes. If `placement` allows only one home, the list is empty.
std::vector<Value> alternatives_of_homes(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
