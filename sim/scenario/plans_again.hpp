// Makes plans for scenarios that differ from each other only in prices. A new plan is made if its structure is new.
// Otherwise the plan of the same structure gets new prices.
#pragma once

#include <list>
#include <optional>

#include "plan/tables.hpp"
#include "planning/price_again.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Returns true if the two differ only in prices of the platform or in keys of the cost model. Nothing else on which a
/// plan may depend may differ.
bool other_prices_only(const Scenario& base, const Scenario& scenario);

class PlansAgain {
 public:
  /// A plan that is kept, with the prices of the scenario that was asked for last. The object is valid until the next
  /// find() or keep().
  struct KeptPlan {
    Plan plan;
    PlanTables tables;  ///< the tables of that plan
    CutModel cut;
    std::vector<Stage> question_stages;  ///< stages from which the question's bound is computed
    std::optional<Chosen<FateStrategy>> fates;
    std::string cost;  ///< the name of the cost model
    PriceAgain price_again;

    KeptPlan(PlannedScenario&& planned, const Scenario& scenario);
    PolicyRequest request(const Scenario& scenario) const;
  };

  /// Returns the plan that make_plan(scenario) would make, derived from a plan that is kept. Returns null if
  /// no plan with that structure is kept. In this case the caller makes a new plan, which also throws any
  /// error.
  KeptPlan* find(const Scenario& scenario);
  /// Keeps a plan if it can be priced again. It must have been made for the scenario of the last
  /// call of find(), and must have passed check().
  void keep(PlannedScenario planned, const Scenario& scenario);

 private:
  bool has_cut_of(const Scenario& scenario) const;

  std::list<KeptPlan> kept_;  ///< a short list, the most recently used first
  /// What prices decide for the scenario of the last call of find(). It is empty if the plan was
  /// found, or if the decisions are not known.
  std::optional<PriceDecisions> decided_;
};

}  // namespace sluice
