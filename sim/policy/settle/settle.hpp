// Makes the choices that a scenario leaves open: the policy offers plans for each cut of the model, and the plan with
// the fastest run is taken.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
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
  /// The simulated seconds of the chosen way, if the judge chose it among several ways.
  std::optional<double> chosen_s = {};
  /// What is needed to price the plan again. Empty if the plan cannot be priced again, for example because the judge
  /// chose it by comparing seconds.
  std::optional<PriceAgain> price_again = {};
};

/// Returns the entries of `settled` as a text, without those that the scenario's mapping `asked` has with the same
/// value.
std::string difference(const Value& settled, const Value& asked);

/// Returns the best plan of a policy for any of these cuts. There must be at least one cut. The facts of the plan say
/// which candidate was chosen, how many candidates there were, and how long the runner-up takes. Throws InputError at a
/// wrong parameter, and Infeasible if no plan fits. If the scenario names a number of micro-batches in flight that does
/// not fit, the error gives the greatest number with which a plan fits. For this number, all cuts and all choices that
/// the scenario leaves open are tried.
Settlement settle(const Policy& policy, const std::vector<CutAttempt>& attempts,
                  const Reader& parameters);

/// The answer to the question whether a plan fits.
struct FitQuestion {
  std::optional<Shortage> missing;  ///< what is missing if no plan fits
  std::int64_t actions = 0;  ///< the number of actions of the plan that fits, or 0 if this number is not known
};

/// Says whether settle() finds a plan for these cuts. This takes less time than settle(), because it is enough to find
/// one plan that fits. Throws InputError at a wrong parameter.
FitQuestion ask_whether_fits(const Policy& policy, std::vector<CutAttempt> attempts,
                             const Reader& parameters);

/// Returns the best plan of a policy for a given cut. If no plan takes less than `worth` seconds, the result may be any
/// plan that fits. If no plan fits, the error may give a smaller number of micro-batches in flight than would fit with
/// other choices.
Settlement settle(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                  double worth = std::numeric_limits<double>::infinity());

}  // namespace sluice
