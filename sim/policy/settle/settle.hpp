// Makes the choices that a scenario leaves open: the policy offers plans for each cut of the model, and the plan with
// the fastest run is taken.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planning/price_again.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// A request to a policy for one cut of the model, and the text by which a report describes this cut.
struct CutAttempt {
  PolicyRequest request;
  /// For example "cut: by_weight, groups: 12". Empty if the scenario itself gives the cut.
  std::string cut;
};

struct Settlement {
  Plan plan;
  std::size_t attempt = 0;  ///< the index of the cut with which the plan was made
  /// What is needed to price the plan again. Empty if the plan cannot be priced again, for example because the judge
  /// chose it by comparing seconds.
  std::optional<PriceAgain> price_again = {};
};

/// Returns the fastest plan of a policy for any of these cuts, of which there must be at least one. If there was a
/// choice, the facts of the plan name the chosen candidate, the number of candidates, and the second-best candidate
/// with its seconds. Throws InputError at a wrong parameter. Throws Infeasible if no plan fits.
Settlement settle(const Policy& policy, const std::vector<CutAttempt>& attempts,
                  const Reader& parameters);

/// Returns the fastest plan of a policy for one given cut.
Plan settle(const Policy& policy, const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
