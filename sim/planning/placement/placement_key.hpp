// The key `placement` of a policy: its field, and the plans for each of its values. Two kinds of policies have this
// key. A policy of the first kind keeps all weights on one device. For such a policy, `placement` may ask for another
// plan, which places single tensors. A policy of the second kind plans as if each device had a single memory. For such a
// policy, `placement` places the tensors of the policy's own plan (placed_turns.hpp). If the policy lets weights take
// turns, `placement` may also give the home of these weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

/// Returns the field `placement` of a policy that keeps all weights on one device.
Field placement_field();

/// Returns whether the field `placement` is that of a policy that keeps all weights on one device. Then `auto` compares
/// placements of single tensors, which needs a cost model that counts the bandwidths of memories. If the policy is of
/// the other kind, `auto` compares the homes of its weights with every cost model. `auto` compares other
/// placements only with a cost model that counts the bandwidths of memories.
bool compares_placements(const Field& placement);

/// The next three functions are for a policy that keeps all weights on one device. If replicas sum their gradients, a
/// stage must have one tensor of gradients. Then the functions do not place single tensors, but the tensors of the
/// policy's own plan, as for a policy of the second kind.
///
/// plan_of_placements() returns the plan that follows the value of `placement`. If this is the name of a placement, the
/// method with this name chooses the memory of each tensor. Throws InputError (at `placement`) if the placement is not
/// possible. Throws Infeasible if the memories cannot hold all tensors.
Draft plan_of_placements(const PolicyRequest& request, const Reader& parameters,
                         const std::string& policy, const PlansForMachine& of_policy);

/// Returns the candidates of training: the policy's candidates for each home of offloaded tensors that `placement`
/// allows. With `auto`, placements of tensors are candidates, too. The request and the parameters must outlive the
/// candidates.
std::vector<Candidate> candidates_of_placements(const PolicyRequest& request,
                                                const Reader& parameters, const std::string& policy,
                                                const PlansForMachine& of_policy);

/// Returns the mappings for `policy:` that are compared. In inference, `maps` has one mapping for each way to settle
/// the policy's other open choices, such as the number of buffers, or is empty. If the placement is open, the function
/// adds mappings with placements to them. In training, `maps` is not used, and the returned mappings are compared in
/// two cases only. In one case, the strategy for fates has no candidates. In the other case, the policy plans for
/// replicas, and a run may be the fastest if all replicas have the same placement.
std::vector<Value> alternatives_of_placements(const PolicyRequest& request,
                                              const Reader& parameters,
                                              const PlansForMachine& of_policy,
                                              std::vector<Value> maps);

/// Returns the field `placement` of a policy whose weights take turns on the devices.
Field home_field();
/// Returns the field `placement` of a policy whose stages, with their weights, stay on several devices.
Field stages_field();

/// These functions return the plan, or the candidates, of a policy that has one of these two fields. The plan and the
/// candidates follow the value of `placement`. `of_policy` makes them for a given machine. The request and the
/// parameters must outlive the candidates. If the value of `placement` is not possible for this machine or workload,
/// the functions throw an InputError that points to this key. If the tensors do not fit, they throw Infeasible.
Draft plan_of_turns(const PolicyRequest& request, const Reader& parameters,
                    const PlansForMachine& of_policy);
std::vector<Candidate> candidates_of_turns(const PolicyRequest& request, const Reader& parameters,
                                           const PlansForMachine& of_policy);

/// Returns the mappings for `policy:` that are compared. In the first mapping, host memory is the home of the weights
/// that take turns. In the second mapping, the second memory is, if this is possible. If `placement` is `auto`, there may
/// be further mappings, with the placements `static` and `all_slow`. If `placement` leaves no choice, the list is empty.
std::vector<Value> alternatives_of_homes(const PolicyRequest& request, const Reader& parameters,
                                         const PlansForMachine& of_policy);

}  // namespace sluice
