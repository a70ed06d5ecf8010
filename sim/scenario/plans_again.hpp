// Scenarios of which each differs from the others in prices alone: a plan is made where its
// structure is a new one, and priced again where it is not.
#pragma once

#include <list>
#include <optional>

#include "plan/tables.hpp"
#include "planning/price_again.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Do the two differ in the prices of the platform, or in the keys of the cost model, and in
/// nothing else that a plan may depend on?
bool other_prices_only(const Scenario& base, const Scenario& scenario);

class PlansAgain {
 public:
  /// A plan that was made once and has a scenario's prices now. It stays until the next find() or
  /// keep().
  struct Made {
    Plan plan;
    PlanTables tables;  ///< of that plan
    CutModel cut;
    std::optional<Chosen<FateStrategy>> fates;
    std::string cost;  ///< the cost model's name
    PriceAgain again;

    Made(PlannedScenario&& planned, const Scenario& scenario);
    PolicyRequest request(const Scenario& scenario) const;
  };

  /// The plan that make_plan(scenario) would make, from one that is kept; null: none of them has
  /// that structure, and it is to be made anew. What planning would throw it throws then.
  Made* find(const Scenario& scenario);
  /// Keeps a plan that was made for this scenario and has passed check(), where it can be priced
  /// again.
  void keep(PlannedScenario planned, const Scenario& scenario);

 private:
  std::list<Made> made_;  ///< the last used first: few
};

}  // namespace sluice
