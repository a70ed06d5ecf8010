// Makes candidates of training for a strategy that searches for fates. If weights take turns, each number of
// micro-batches side by side has a search of its own. The results are compared with the plans of the strategies that
// treat all stages alike.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/never.hpp"
#include "fates/optimal/report.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/chain/order_bound.hpp"
#include "planning/training/load_offers.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/training.hpp"
#include "planning/training/work_of_batches.hpp"

namespace sluice {

namespace {

/// The orders that are tried, each with a lower bound of its seconds that holds for all fates. An order has a number of
/// micro-batches in flight, and a set of stages whose weights stay.
class OrderBounds {
 public:
  explicit OrderBounds(const PolicyRequest& request) : request_(request), kept_(request) {
    kept_.fates = kept_fates();
    kept_.capacity_enforced = false;
  }

  /// Returns the request with a strategy that keeps all activations, and without a limit of memory. A run that keeps
  /// all activations has the fewest passes and copies, and each of them waits for the fewest others. So a lower bound
  /// of such a run holds for all fates.
  const PolicyRequest& kept() const { return kept_; }

  /// Adds an order and a bound of it. Returns the number of the order.
  std::size_t add(TrainingOrder order, double at_least) {
    orders_.push_back({std::move(order), at_least});
    return orders_.size() - 1;
  }
  const TrainingOrder& operator[](std::size_t number) const { return orders_[number].order; }

  /// Computes the bound order_bound() of an order, and returns the greatest bound that is known. The bound is infinite
  /// if no run fits.
  double chain_bound(std::size_t number) {
    Order& known = orders_[number];
    if (known.by == Bound::sums) {
      known.by = Bound::chain;
      raise(number, order_bound(request_, known.order));
    }
    return known.at_least;
  }
  /// `at_least` is a bound of this order, too.
  void raise(std::size_t number, double at_least) {
    orders_[number].at_least = std::max(orders_[number].at_least, at_least);
  }

  /// Returns the least bound of all orders. It computes the bounds that take longer only for those orders that would
  /// otherwise have the least bound.
  double least() {
    while (true) {
      const auto least = std::ranges::min_element(orders_, {}, &Order::at_least);
      const auto number = static_cast<std::size_t>(least - orders_.begin());
      if (least->by == Bound::clock) return least->at_least;
      if (least->by == Bound::sums)
        chain_bound(number);
      else
        add_clock_bound(number);
    }
  }

 private:
  enum class Bound { sums, chain, clock };  ///< how the bound was computed, the fastest way first
  struct Order {
    TrainingOrder order;
    double at_least = 0;
    Bound by = Bound::sums;
  };

  /// The clock goes through the whole step. On a shown machine, its bound is only for the real machine.
  void add_clock_bound(std::size_t number) {
    orders_[number].by = Bound::clock;
    const TrainingOrder& order = orders_[number].order;
    if (!order.weights_stay && !request_.real_machine) raise(number, clock_at_least(kept_, order));
  }

  PolicyRequest request_, kept_;
  std::vector<Order> orders_;
};

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
  Search(const PolicyRequest& request, std::size_t number, std::shared_ptr<OrderBounds> bounds,
         std::shared_ptr<const std::vector<Stage>> stages)
      : request_(request),
        number_(number),
        bounds_(std::move(bounds)),
        order_((*bounds_)[number]),
        stages_(std::move(stages)) {}

  /// Returns this search as a candidate, or nothing if no run fits. Its bound is greater than the one with which the
  /// order was added.
  static std::vector<Candidate> opened(const std::shared_ptr<const Search>& search) {
    const double at_least = search->bounds_->chain_bound(search->number_);
    if (at_least == never) return {};
    return {{at_least, 1,
             [search](double worth, const auto& found) { search->simulate(worth, found); }}};
  }

 private:
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
      // The bound of the search is false on a shown machine, because it counts loads of inputs that use other links on
      // the real machine.
      if (!request_.real_machine) bounds_->raise(number_, found.chosen->bound.value_or(0));
      seconds = seconds_of(found);
    } catch (const Infeasible&) {
      return settled({never, "", {}});
    }
    settled({seconds, text_of(order_) + text_of(found.sequence, found.late),
             [request = request_, found, seconds, bounds = bounds_, stages = stages_] {
               return with_gap(finish(plan_training(request, found), request),
                               budget_of(request, found), seconds, bounds->least());
             }});
  }

  /// Returns the seconds of the whole run. If weights stay and copies do not overlap, the search for fates gives only
  /// the seconds of the micro-batches, so the plan is simulated.
  double seconds_of(const TrainingOrder& found) const {
    const bool stay = weights_stay(request_, order_) || !order_.staying.empty();
    if (order_.overlap || !stay) return found.chosen->seconds.value_or(never);
    return run_seconds(finish(plan_training(request_, found), request_));
  }

  PolicyRequest request_;
  std::size_t number_;  ///< the number of the order in `bounds_`
  std::shared_ptr<OrderBounds> bounds_;
  TrainingOrder order_;
  std::shared_ptr<const std::vector<Stage>> stages_;  ///< the stages to which the request refers
};

/// Returns whether the search is made for this order. If the scenario leaves open which weights stay, and the plan is
/// only made to be changed, a search for each set of them would take too long. So it is made only for the order in
/// which none stay. For some sets, it is never made (TrainingOrder::searched). Strategies that treat all stages alike
/// are tried with each set.
bool searched(const PolicyRequest& request, const TrainingOrder& order) {
  return order.searched &&
         (!order.staying_open || order.staying.empty() || !request.made_to_change);
}

/// Returns a candidate for the search of each order. The search needs a bound that takes about as long to compute as
/// the search itself. So the bound is computed only if the judge opens the candidate.
std::vector<Candidate> searches(const PolicyRequest& request, const TrainingOrder& order,
                                const std::vector<std::int64_t>& in_flight,
                                const std::shared_ptr<OrderBounds>& bounds,
                                const std::shared_ptr<const std::vector<Stage>>& stages) {
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  std::vector<Candidate> all;
  for (TrainingOrder& settled : fitting_orders(request, order)) {
    const WorkOfBatches work(bounds->kept(), settled);
    for (const std::int64_t count : in_flight) {
      const std::int64_t passes = (per_batch + count - 1) / count;
      if (!tried_with_passes(settled, passes)) continue;
      settled.in_flight = count;
      const double at_least = work.at_least(batches_of_run(request.workload), per_batch, passes);
      const std::size_t number = bounds->add(settled, at_least);
      if (!searched(request, settled)) continue;
      const auto search = std::make_shared<const Search>(request, number, bounds, stages);
      all.push_back({at_least, 1, {}, [search] { return Search::opened(search); }});
    }
  }
  return all;
}

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
                      const std::shared_ptr<OrderBounds>& bounds, std::int64_t budget) {
  return changed(std::move(candidate), [name, bounds, budget](Settled& one) {
    one.text = joined("strategy: " + name, one.text);
    if (!one.plan) return;
    one.plan = [plan = std::move(one.plan), bounds, budget, seconds = one.seconds] {
      return with_gap(plan(), budget, seconds, bounds->least());
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
  if (order.devices.size() < 2) return true;
  Platform platform = request.pricing.platform;
  for (Device& device : platform.devices) device.memory().capacity.reset();  // it changes no price
  return std::ranges::all_of(order.devices, [&](const std::string& name) {
    return alike(platform, name, order.devices.front());
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
  const auto bounds = std::make_shared<OrderBounds>(request);
  std::vector<Candidate> all;
  if (order.weights_stay) {
    for (const TrainingOrder& settled : settled_orders(request, order, in_flight))
      bounds->add(settled, 0);
    all.push_back(only_way(request, order, stages));
  } else {
    all = searches(request, order, in_flight, bounds, stages);
  }
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
