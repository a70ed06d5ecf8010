// The key `placement` of a policy: its field, and what is planned and compared for each of its values. Two kinds of
// policies have it. One keeps all weights on the device, so that placements of single tensors can take the place of its
// own plan. The other lets weights take turns, and `placement` says only where their home is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

/// The field for a policy that keeps all weights on the device.
Field placement_field();

/// Whether `placement` names a placement of single tensors. Then placed_plan() makes the plan, and nothing is compared.
bool places(const Reader& parameters);

/// The plan of the policy with the placement `way` of single tensors. Throws InputError (at `placement`) and
/// Infeasible.
Draft placed_plan(const PolicyRequest& request, const Reader& parameters, const std::string& policy,
                  const std::string& way);

/// Whether plans with offloaded tensors in the second memory are made. They are made if `placement` says so, or to
/// compare them. Throws InputError at `placement`.
bool backs(const PolicyRequest& request, const Reader& parameters);

/// In training, the candidates of the policy for each home of offloaded tensors, and with `auto` the placements of
/// single tensors. The request and the parameters must outlive the candidates.
std::vector<Candidate> candidates_of_placements(const PolicyRequest& request,
                                                const Reader& parameters, const std::string& policy,
                                                const PlansForMachine& of_policy);

/// The mappings for `policy:` that are compared. In inference, `maps` are those without a placement. In training, there
/// are some for a strategy that has no candidates because it searches by itself.
std::vector<Value> alternatives_of_placements(const PolicyRequest& request,
                                              const Reader& parameters, std::vector<Value> maps);

/// The field for a policy whose weights take turns on the device.
Field home_field();

/// The homes that `placement` says for such a policy. Throws InputError at `placement`.
Homes homes_of(const PolicyRequest& request, const Reader& parameters,
               const CommonParameters& common);

/// The mappings for `policy:` that compare both homes. None if `placement` names one.
std::vector<Value> alternatives_of_homes(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
