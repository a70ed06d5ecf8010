// Makes candidates of training for a strategy that searches for fates. If weights take turns, each number of
// micro-batches side by side has a search of its own. The results are compared with the plans of the strategies that
// treat all stages alike.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "fates/optimal/report.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/batch_bytes.hpp"
#include "planning/training/chain/order_bound.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/training.hpp"

namespace sluice {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// For each order that is tried, a lower bound of the seconds. An order has a number of micro-batches in flight, and a
/// set of stages whose weights stay. The bound holds for all fates.
using Bounds = std::vector<double>;

double least(const Bounds& bounds) {
  return *std::min_element(bounds.begin(), bounds.end());
}

/// What is known about the runs of an order with any fates. If all activations are kept, a run has the fewest passes
/// and copies, and each of them waits for the fewest others. Every run has the same tensors whose home is host memory.
struct AnyFates {
  double at_least = 0;  ///< a lower bound of the seconds
  bool homes_fit = true;
};
AnyFates any_fates(const PolicyRequest& request, const TrainingOrder& order) try {
  PolicyRequest kept = request;
  kept.fates = kept_fates();
  kept.capacity_enforced = false;
  const ChosenStep step(kept, order);
  return {step.at_least(), !request.capacity_enforced || homes_fit(request, step.program())};
} catch (const Infeasible&) {  // the step is too long
  return {};
}

/// Sets three facts of the plan: the budget, `bound`, and the gap of `seconds` to `bound`.
Plan with_gap(Plan plan, std::int64_t budget, double seconds, double bound) {
  for (const Fact& fact : {budget_fact(budget), run_bound_fact(bound), gap_fact(seconds, bound)}) {
    const auto known = std::find_if(plan.facts.begin(), plan.facts.end(),
                                    [&](const Fact& other) { return other.name == fact.name; });
    if (known == plan.facts.end())
      plan.facts.push_back(fact);
    else
      *known = fact;
  }
  return plan;
}

/// A strategy's search for fates, for one order.
class Search {
 public:
  Search(const PolicyRequest& request, const TrainingOrder& order, std::size_t number,
         std::shared_ptr<Bounds> bounds, std::shared_ptr<const std::vector<Stage>> stages)
      : request_(request),
        order_(order),
        number_(number),
        bounds_(std::move(bounds)),
        stages_(std::move(stages)) {}

  /// On a shown machine, the search computes other seconds than those of the real machine. So it does not end early if
  /// these seconds are not below `worth`.
  void simulate(double worth, const std::function<void(const Settled&)>& settled) const {
    TrainingOrder found = order_;
    double seconds = never;
    try {
      TriedListing listing;
      found.chosen = std::make_shared<const FateChoice>(
          choose_fates(request_, order_, request_.real_machine ? never : worth, &listing));
      found.sequence = listing.sequence;
      found.late = listing.late;
      double& bound = (*bounds_)[number_];
      // The bound of the search is false on a shown machine, because it counts loads of inputs that use other links on
      // the real machine.
      if (!request_.real_machine) bound = std::max(bound, found.chosen->bound.value_or(bound));
      seconds = seconds_of(found);
    } catch (const Infeasible&) {
      return settled({never, "", {}});
    }
    settled({seconds, text_of(order_) + text_of(found.sequence, found.late),
             [request = request_, found, seconds, bounds = bounds_, stages = stages_] {
               return with_gap(finish(plan_training(request, found), request),
                               budget_of(request, found), seconds, least(*bounds));
             }});
  }

 private:
  /// Returns the seconds of the whole run. If weights stay and copies do not overlap, the search for fates gives only
  /// the seconds of the micro-batches, so the plan is simulated.
  double seconds_of(const TrainingOrder& found) const {
    const bool stay = weights_stay(request_, order_) || !order_.staying.empty();
    if (order_.overlap || !stay) return found.chosen->seconds.value_or(never);
    return run_seconds(finish(plan_training(request_, found), request_));
  }

  PolicyRequest request_;
  TrainingOrder order_;
  std::size_t number_;  ///< the index of the bound of this search in `bounds_`
  std::shared_ptr<Bounds> bounds_;
  std::shared_ptr<const std::vector<Stage>> stages_;  ///< the stages to which the request refers
};

/// Returns the only candidate of a request that leaves nothing open but the fates. Its plan may use the whole memory of
/// the device.
Candidate only_way(const PolicyRequest& request, const TrainingOrder& order,
                   std::shared_ptr<const std::vector<Stage>> stages) {
  return {0, 1, [request, order, stages = std::move(stages)](double, const auto& settled) {
            try {
              const auto plan =
                  std::make_shared<Plan>(finish(plan_training(request, order), request));
              settled({run_seconds(*plan), "", [plan, stages] { return *plan; }});
            } catch (const Infeasible&) {
              settled({never, "", {}});
            }
          }};
}

/// Returns a candidate of a strategy that treats all stages alike, changed in two ways: its text also names the
/// strategy, and its plan has the facts of with_gap().
Candidate as_strategy(Candidate candidate, const std::string& name,
                      const std::shared_ptr<Bounds>& bounds, std::int64_t budget) {
  return changed(std::move(candidate), [name, bounds, budget](Settled& one) {
    one.text = joined("strategy: " + name, one.text);
    if (!one.plan) return;
    one.plan = [plan = std::move(one.plan), bounds, budget, seconds = one.seconds] {
      return with_gap(plan(), budget, seconds, least(*bounds));
    };
  });
}

/// A request with a strategy that treats all stages alike, and the candidates of this request. Without candidates, the
/// request has a single plan, which may use the whole memory of the device.
struct AlikeWays {
  PolicyRequest request;
  std::vector<Candidate> candidates;
};

/// Returns the requests with the strategies that treat all stages alike. If the plan is only made to be changed
/// afterwards, the plans of these strategies are changed, too (placed_turns.cpp), so they are not needed here. They are
/// not needed for a search with a `budget`, either: only the search obeys it.
std::vector<AlikeWays> ways_of_strategies(const PolicyRequest& request, const TrainingOrder& order,
                                          const std::shared_ptr<const std::vector<Stage>>& stages) {
  std::vector<AlikeWays> all;
  if (request.made_to_change || request.fates->keys.map().find("budget")) return all;
  for (const FateStrategy* strategy : fate_catalog().entries()) {
    if (!strategy->compared) continue;
    PolicyRequest alike = request;
    alike.fates = plain_fates(*strategy);
    std::vector<Candidate> candidates = training_candidates(alike, order, stages);
    all.push_back({std::move(alike), std::move(candidates)});
  }
  return all;
}

}  // namespace

bool devices_alike(const PolicyRequest& request, const TrainingOrder& order) {
  return std::ranges::all_of(order.devices, [&](const std::string& name) {
    return alike(request.pricing.platform, name, order.devices.front());
  });
}

std::optional<std::int64_t> bytes_of_all(const PolicyRequest& request, const TrainingOrder& order) {
  if (!request.capacity_enforced) return {};
  std::int64_t bytes = 0;
  for (const std::string& name : order.devices) {
    const auto capacity = request.pricing.platform.device(name).memory().capacity;
    if (!capacity) return {};
    bytes += *capacity;
  }
  return bytes;
}

std::vector<Candidate> searched_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           const std::vector<std::int64_t>& in_flight,
                                           std::shared_ptr<const std::vector<Stage>> stages) {
  const std::vector<AlikeWays> alike = ways_of_strategies(request, order, stages);
  // If weights stay and no strategy that treats all stages alike has candidates, no candidates are needed: the search
  // for fates itself compares these strategies.
  if (order.weights_stay && std::all_of(alike.begin(), alike.end(), [](const AlikeWays& ways) {
        return ways.candidates.empty();
      }))
    return {};
  const auto bounds = std::make_shared<Bounds>();
  std::vector<Candidate> all;
  for (const TrainingOrder& settled : settled_orders(request, order, in_flight)) {
    bounds->push_back(order_bound(request, settled));
    if (order.weights_stay) continue;
    const AnyFates known = any_fates(request, settled);
    const double least_s = std::max(bounds->back(), known.at_least);
    if (!request.real_machine) bounds->back() = least_s;
    const auto search =
        std::make_shared<const Search>(request, settled, bounds->size() - 1, bounds, stages);
    all.push_back({least_s, 1, [search, fits = known.homes_fit](double worth, const auto& found) {
                     if (fits) search->simulate(worth, found);
                   }});
  }
  if (order.weights_stay) all.push_back(only_way(request, order, stages));
  const std::int64_t budget = budget_of(request, order);
  for (const AlikeWays& ways : alike) {
    for (const Candidate& candidate : ways.candidates)
      all.push_back(as_strategy(candidate, ways.request.fates->entry->name, bounds, budget));
    if (ways.candidates.empty())
      all.push_back(as_strategy(only_way(ways.request, order, stages),
                                ways.request.fates->entry->name, bounds, budget));
  }
  return all;
}

}  // namespace sluice
