// Makes the choices that a scenario leaves open. From all plans that the policy offers for each cut of the model, the
// plan that ends first is chosen.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planning/price_again.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// A request to a policy for one cut. `cut` describes this cut if it is chosen.
struct CutAttempt {
  PolicyRequest request;
  std::string cut;  ///< "cut: by_weight, groups: 12"; empty if the cut is the scenario's
};

struct Settlement {
  Plan plan;
  std::size_t attempt = 0;  ///< number of the cut with which the plan was made
  /// The part of the draft that says what prices decided. It is set only if nothing was chosen by seconds.
  std::optional<PriceAgain> price_again = {};
};

/// Returns the best plan of a policy over these cuts. There must be at least one cut. The facts of the plan say what
/// was chosen, from how many candidates, and how long the runner-up takes. Throws InputError (at the parameter) and
/// Infeasible.
Settlement settle(const Policy& policy, const std::vector<CutAttempt>& attempts,
                  const Reader& parameters);

/// Returns the best plan of a policy for a given cut.
Plan settle(const Policy& policy, const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
