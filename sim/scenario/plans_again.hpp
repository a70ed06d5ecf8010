// Plans for scenarios that differ from each other only in prices: a plan is made where its
// structure is new, and priced again where it is not.
#pragma once

#include <list>
#include <optional>

#include "plan/tables.hpp"
#include "planning/price_again.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// True where the two differ only in prices of the platform or in keys of the cost model, and in
/// nothing else that a plan may depend on.
bool other_prices_only(const Scenario& base, const Scenario& scenario);

class PlansAgain {
 public:
  /// A plan that was made once and now has the prices of a scenario. It is valid until the next
  /// find() or keep().
  struct Made {
    Plan plan;
    PlanTables tables;  ///< of that plan
    CutModel cut;
    std::vector<Stage> question_stages;  ///< that the bound of the question looks at
    std::optional<Chosen<FateStrategy>> fates;
    std::string cost;  ///< the name of the cost model
    PriceAgain again;

    Made(PlannedScenario&& planned, const Scenario& scenario);
    PolicyRequest request(const Scenario& scenario) const;
  };

  /// The plan that make_plan(scenario) would make, derived from one that is kept. Null: no kept
  /// plan has that structure, so it must be made anew. Planning anew then throws whatever is to be
  /// thrown.
  Made* find(const Scenario& scenario);
  /// Keeps a plan that was made for the scenario that find() was asked for last, and that has passed
  /// check(), where it can be priced again.
  void keep(PlannedScenario planned, const Scenario& scenario);

 private:
  bool has_cut_of(const Scenario& scenario) const;

  std::list<Made> made_;  ///< a short list, the most recently used first
  /// What prices decide for the scenario that find() was asked for last. None: its plan was found,
  /// or the decisions are not known.
  std::optional<PriceDecisions> decided_;
};

}  // namespace sluice
