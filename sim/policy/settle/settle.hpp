// Makes the choices that a scenario leaves open. It finds the plan that ends first among all that the policy offers for
// each cut of the model.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planning/price_again.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// A request to a policy for one cut. The text describes this cut if it is chosen.
struct CutAttempt {
  PolicyRequest request;
  std::string cut;  ///< "cut: by_weight, groups: 12"; empty: from the scenario
};

struct Settlement {
  Plan plan;
  std::size_t attempt = 0;  ///< number of the cut with which it was made
  /// Set if nothing was chosen by seconds and the draft says what prices decided.
  std::optional<PriceAgain> price_again = {};
};

/// Returns the best plan of a policy over these cuts (at least one). Its facts say what was chosen, from
/// how many candidates, and how long the runner-up takes. Throws InputError (at the parameter) and
/// Infeasible.
Settlement settle(const Policy& policy, const std::vector<CutAttempt>& attempts,
                  const Reader& parameters);

/// The same for a given cut.
Plan settle(const Policy& policy, const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
