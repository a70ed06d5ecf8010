// Keeps plans for scenarios that differ from each other only in prices. For a new scenario, a kept plan may have the
// right structure: the actions, in the order and with the waits that a new plan would have. Then this plan gets the
// prices of the new scenario. Otherwise the caller makes a new plan.
#pragma once

#include <list>
#include <optional>

#include "plan/tables.hpp"
#include "planning/price_again.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Returns true if the two scenarios differ only in keys of the cost model, or in those numbers of the platform that
/// change prices: FLOP/s, bandwidths, delays and watts. Everything else on which a plan may depend must be equal.
bool other_prices_only(const Scenario& base, const Scenario& scenario);

class PlansAgain {
 public:
  /// A kept plan, to which find() gives the prices of a scenario. The object is valid until the next call of find() or
  /// keep().
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

  /// Returns a kept plan with the prices of the scenario. It equals the plan that make_plan(scenario) would make. If no
  /// kept plan has the right structure, or if an error occurs, returns null. The caller then calls make_plan(), which
  /// makes the plan or throws the error.
  KeptPlan* find(const Scenario& scenario);
  /// Keeps a plan if it can be priced again. The plan must have been made for the scenario of the last call of find(),
  /// and must have passed check().
  void keep(PlannedScenario planned, const Scenario& scenario);

 private:
  bool has_cut_of(const Scenario& scenario) const;

  std::list<KeptPlan> kept_;  ///< the kept plans; the most recently used plan is the first
  /// The decisions that follow from the prices of the scenario in the last call of find(). The value is absent if
  /// find() returned a plan, or if the decisions are not known.
  std::optional<PriceDecisions> decided_;
};

}  // namespace sluice
