// Makes the choices that a scenario leaves open. The policy offers plans for each cut of the model. The plan whose run
// ends first is chosen.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planning/price_again.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// A request to a policy for one cut. If this cut is chosen, the report describes the cut by the text `cut`.
struct CutAttempt {
  PolicyRequest request;
  /// For example "cut: by_weight, groups: 12". If the scenario says how to cut, the text is empty.
  std::string cut;
};

struct Settlement {
  Plan plan;
  std::size_t attempt = 0;  ///< the index of the cut with which the plan was made
  /// The data that are needed to price the plan again. These data are missing if a choice was made by comparing
  /// seconds.
  std::optional<PriceAgain> price_again = {};
};

/// Returns the best plan of a policy for any of these cuts. There must be at least one cut. The facts of the plan name
/// the chosen candidate, the number of candidates, and the seconds of the second-best candidate. Throws InputError at a
/// wrong parameter. Throws Infeasible if no plan fits.
Settlement settle(const Policy& policy, const std::vector<CutAttempt>& attempts,
                  const Reader& parameters);

/// Returns the best plan of a policy for a given cut.
Plan settle(const Policy& policy, const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
