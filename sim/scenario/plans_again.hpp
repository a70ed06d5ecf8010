// Makes plans for scenarios that differ from each other only in prices. Plans are kept. If a kept plan has the right
// structure, it gets new prices. Otherwise a new plan is made.
#pragma once

#include <list>
#include <optional>

#include "plan/tables.hpp"
#include "planning/price_again.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Returns true if the two scenarios differ only in prices of the platform or in keys of the cost
/// model. Everything else on which a plan may depend must be equal.
bool other_prices_only(const Scenario& base, const Scenario& scenario);

class PlansAgain {
 public:
  /// A plan that is kept. find() gives it the prices of a scenario. The object is valid until the next call of find()
  /// or keep().
  struct KeptPlan {
    Plan plan;
    PlanTables tables;  ///< the tables of `plan`
    CutModel cut;
    /// The stages from which the bound of the question is computed.
    std::vector<Stage> question_stages;
    std::optional<Chosen<FateStrategy>> fates;
    std::string cost;  ///< the name of the cost model
    PriceAgain price_again;

    KeptPlan(PlannedScenario&& planned, const Scenario& scenario);
    PolicyRequest request(const Scenario& scenario) const;
  };

  /// Returns a kept plan with new prices. It equals the plan that make_plan(scenario) would make. If no kept plan has
  /// the right structure, returns null. On an error, also returns null. The caller then calls make_plan(), which throws
  /// the error.
  KeptPlan* find(const Scenario& scenario);
  /// Keeps a plan if it can be priced again. The plan must have been made for the scenario of the last call of find(),
  /// and must have passed check().
  void keep(PlannedScenario planned, const Scenario& scenario);

 private:
  bool has_cut_of(const Scenario& scenario) const;

  std::list<KeptPlan> kept_;  ///< the kept plans; the most recently used plan is the first
  /// The decisions that follow from the prices of the scenario in the last call of find(). If find() returned a plan or
  /// the decisions are not known, the value is absent.
  std::optional<PriceDecisions> decided_;
};

}  // namespace sluice
