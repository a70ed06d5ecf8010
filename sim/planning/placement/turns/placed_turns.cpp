#include "planning/placement/turns/placed_turns.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/error.hpp"
#include "fates/optimal/report.hpp"
#include "plan/digest.hpp"
#include "planning/joined_replicas.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/any_fates.hpp"
#include "planning/placement/placed_candidates.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/placement/turns/cached_turns.hpp"
#include "planning/placement/turns/fastest_machine.hpp"
#include "planning/placement/turns/judged_run.hpp"
#include "planning/placement/turns/moved_weights.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "planning/placement/turns/placement_facts.hpp"
#include "planning/placement/turns/shortage_of_both.hpp"
#include "planning/placement/turns/shown_machine.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/placement/turns/waiting_tensors.hpp"

namespace sluice {
namespace {

/// Returns a set of kinds for each placement to try: the kinds that are in the second memory. With `static` and with
/// moves, these are all sets of blocks, all placements that `first_touch` can have, and those in which each device
/// fills its first memory.
std::vector<TensorKinds> placements_of(const PlacedKinds& placed, const std::string& way) {
  const std::vector<TensorKind>& kinds = placed.kinds();
  if (way == all_slow_placement) return {TensorKinds(kinds.begin(), kinds.end())};
  if (way == first_touch_placement) return placed.first_touched(/*fits=*/true);
  std::vector<TensorKinds> placements = placed.sets_of_blocks();
  const bool fits = !moves_tensors(way);  // with moves, a placement may need less room
  for (std::vector<TensorKinds> filled :
       {placed.first_touched(/*fits=*/false), placed.filled(fits)})
    for (TensorKinds& slow : filled)
      if (std::ranges::find(placements, slow) == placements.end())
        placements.push_back(std::move(slow));
  return placements;
}

/// Returns the candidates of the policy on the machine of `request`. If the policy has none because no choice is open,
/// its plan is the only candidate.
std::vector<Candidate> candidates_on(const PolicyRequest& request,
                                     const PlansForMachine& of_policy) {
  std::vector<Candidate> candidates = of_policy.candidates(request);
  if (candidates.empty())
    candidates.push_back(only_candidate(
        "", [&request, plan = of_policy.plan] { return finish(plan(request), request); }));
  return candidates;
}

/// A placed plan, and a lower bound of its seconds. `plan` may return nothing if the plan is not worth a simulation: if
/// it takes `worth` seconds or more, or is no faster than another plan.
struct BoundedPlan {
  double at_least = 0;
  std::function<std::optional<Plan>(double worth)> plan;
  TensorKinds slow = {};  ///< the kinds in the second memory
};

/// The digests of plans that have been placed (digest_to_place).
using PlacedPlans = std::set<std::string>;

/// Finds the fastest placed plans. Its plans need the object, so it must belong to a shared_ptr.
class PlacedSearch : public std::enable_shared_from_this<PlacedSearch> {
 public:
  /// The search is for `turns`, but with this request. Several searches may share `placed`.
  PlacedSearch(const PlacedTurns& turns, PolicyRequest request, std::shared_ptr<PlacedPlans> placed)
      : request_(std::move(request)),
        turns_{request_, turns.way, turns.of_policy},
        prices_(request_, turns_.of_policy.on.names, turns_.of_policy.passed),
        rates_(shown_rates(request_.pricing.platform, turns_.of_policy.on.names,
                           turns_.way == all_slow_placement)),
        placed_(std::move(placed)) {}
  PlacedSearch(const PlacedSearch&) = delete;

  /// Returns a candidate for each shown machine, but only if its memory is not larger than both memories of each real
  /// device together. For a policy with fixed plans, returns a candidate for each of these plans.
  static std::vector<Candidate> open(const std::shared_ptr<PlacedSearch>& search) {
    std::vector<Candidate> candidates;
    FastestMachine fastest(search->turns_, search->prices_);
    const std::vector<FixedPlan>& fixed = search->turns_.of_policy.fixed;
    const double with_any_memory =
        fixed.empty() ? 0 : fastest.seconds({std::numeric_limits<std::int64_t>::max()}).front();
    for (const FixedPlan& one : fixed)
      candidates.push_back(
          {.at_least = with_any_memory, .simulate = [search, &one](double worth, const auto& use) {
             use(search->fastest(one, worth));
           }});
    if (!candidates.empty()) return candidates;
    const std::string same = search->same_plans();
    std::vector<std::int64_t> sizes =
        shown_sizes(search->turns_.request, search->turns_.of_policy.on);
    std::erase_if(sizes, [&](std::int64_t bytes) {
      return !both_may_hold(search->turns_.request, search->turns_.of_policy.on, bytes);
    });
    const std::vector<double> least = fastest.seconds(sizes);
    for (std::size_t n = 0; n < sizes.size(); ++n)
      for (const ShownRates& rates : search->rates_)
        candidates.push_back({.at_least = least[n],
                              .simulate =
                                  [search, bytes = sizes[n], rates](double worth, const auto& use) {
                                    search->place({bytes, rates}, worth, use);
                                  },
                              .same_ways = same.empty() ? "" : same + shown_text(sizes[n], rates)});
    return candidates;
  }

  /// Returns how many candidates open() returns at most.
  std::int64_t ways() const {
    const auto fixed = static_cast<std::int64_t>(turns_.of_policy.fixed.size());
    if (fixed > 0) return fixed;
    constexpr std::int64_t plans = 2;  // see place()
    return plans * most_shown_sizes(turns_.request) * static_cast<std::int64_t>(rates_.size());
  }

 private:
  /// Returns a text that is the same for all strategies for fates with which the policy makes the same plans for each
  /// shown machine. Returns an empty text if this is not known.
  std::string same_plans() const {
    const auto& same_ways = turns_.of_policy.same_ways;
    try {
      const std::string same = same_ways ? same_ways(turns_.request) : "";
      return same.empty() ? "" : turns_.way + " " + same;
    } catch (const Infeasible&) {  // the step is too long
      return "";
    }
  }
  static std::string shown_text(std::int64_t bytes, const ShownRates& rates) {
    return " " + std::to_string(bytes) + " " + std::to_string(rates.memory) +
           (rates.far ? " far" : " near");
  }

  /// Calls `use` with the fastest placement of the policy's plan for a shown machine. Tensors may stay in this plan
  /// that could take turns. In two memories, other tensors may use the room of these tensors better. So if tensors
  /// stay, the policy's plan in which all take turns is placed, too.
  void place(ShownPlans::Machine machine, double worth,
             const std::function<void(const Settled&)>& use) {
    const ShownPlans::Made planned = shown_plan(machine);
    if (!planned) return;
    const Settled best = fastest(*planned, worth);
    use(best);
    if (!find_fact(planned->plan.facts, "resident_bytes")) return;
    machine.all_take_turns = true;
    if (const ShownPlans::Made other = shown_plan(machine))
      use(fastest(*other, std::min(worth, best.seconds)));
  }

  /// Returns the fastest placement of a plan for a shown machine. If no placement fits and takes less than `worth`
  /// seconds, the result has no plan.
  Settled fastest(const ShownPlan& planned, double worth) {
    if (!placed_->insert(digest_to_place(planned.plan)).second) return {};
    // The moves of a plan depend on the memory of the request, and so do the sizes of a hardware cache.
    const bool keeps = turns_.way == static_placement || turns_.way == all_slow_placement;
    PlacedAtLeast* const known = keeps ? &planned.placed[turns_.way] : nullptr;
    if (known && known->all >= worth) return {};
    // The text of the policy's choices. Its part after a semicolon is about the memory of the shown machine.
    return fastest(planned.plan, planned.text.substr(0, planned.text.find(';')), worth, known);
  }

  /// Returns the policy's plan for a shown machine, or null if no plan fits.
  ShownPlans::Made shown_plan(const ShownPlans::Machine& machine) {
    const auto make = [&]() -> ShownPlans::Made {
      ShownMachine shown(turns_.request, turns_.of_policy.on.names, machine.bytes, machine.rates);
      ShownPlans& known = on_machines_[{machine.rates, machine.all_take_turns}];
      known.all_take_turns = machine.all_take_turns;
      shown.request.shown_plans = &known;
      const Settled best = judge(candidates_on(shown.request, turns_.of_policy)).best;
      if (!best.plan) return {};
      return std::make_shared<const ShownPlan>(ShownPlan{best.seconds, best.text, best.plan()});
    };
    ShownPlans* const known = turns_.request.shown_plans;
    return known ? known->plan(turns_.request.strategy().name, machine, make) : make();
  }

  /// Returns the fastest placement of a fixed plan.
  Settled fastest(const FixedPlan& one, double worth) {
    PolicyRequest unlimited = turns_.request;
    unlimited.capacity_enforced = false;
    try {
      return fastest(finish(one.plan(unlimited), unlimited), one.text, worth);
    } catch (const Infeasible&) {
      return {};
    }
  }

  /// Adds lower bounds to `known`, unless it is null, and does not simulate placements that these bounds rule out.
  Settled fastest(Plan plan, const std::string& text, double worth,
                  PlacedAtLeast* known = nullptr) {
    const PlacedKinds placed(prices_, std::move(plan), !turns_.of_policy.on.overlap);
    Settled best;
    std::vector<BoundedPlan> plans =
        turns_.way == hardware_cache ? behind_cache(placed, worth) : in_two_memories(placed);
    std::ranges::stable_sort(plans, {}, &BoundedPlan::at_least);
    double least = std::numeric_limits<double>::infinity();
    for (const BoundedPlan& one : plans) {
      const double to_beat = std::min(worth, best.seconds);
      double bound = known ? std::max(one.at_least, known->each[one.slow]) : one.at_least;
      if (bound < to_beat && best.seconds > enough()) try {
          simulate(text, one, to_beat, best, bound);
        } catch (const Infeasible&) {  // Other placements may still fit.
        }
      if (known) known->each[one.slow] = bound;
      least = std::min(least, bound);
    }
    if (known) known->all = least;
    if (best.plan && !found_.insert({best.text, best.seconds}).second) return {};
    return best;
  }

  /// Finds the fastest run of a placed plan within limits of the memories (limited_runs.hpp). If it is faster than
  /// `best`, it takes the place of `best`. `bound` gets a lower bound of the runs.
  void simulate(const std::string& text, const BoundedPlan& one, double worth, Settled& best,
                double& bound) const {
    const std::optional<Plan> plan = one.plan(worth);
    if (!plan) return;
    JudgedRun run = judged_run(*plan, {turns_.request, prices_.devices(), worth, enough()});
    bound = std::max(bound, run.at_least);
    if (!(run.seconds < best.seconds)) return;
    best = {.seconds = run.seconds, .text = text + run.text};
    best.plan = [make = std::move(run.plan), self = shared_from_this()] {
      return make([self](Plan& first) { say_gap(first, self->prices_); });
    };
  }

  /// Returns the seconds below which no plan is. So a plan that takes these seconds is the fastest.
  double enough() const {
    return turns_.request.shown_plans ? turns_.request.shown_plans->at_least : 0;
  }

  /// Returns the plan with facts that hold for two memories.
  Plan told(Plan plan) const {
    std::erase_if(plan.facts, holds_for_one_memory);
    say_placement(plan, turns_);
    return plan;
  }

  /// Returns the plans with the placements of the placement method. `placed` must outlive them.
  std::vector<BoundedPlan> in_two_memories(const PlacedKinds& placed) {
    std::vector<BoundedPlan> all;
    const auto moved = moves_tensors(turns_.way)
                           ? std::make_shared<const MovedWeights>(prices_, placed)
                           : std::shared_ptr<const MovedWeights>();
    for (const TensorKinds& slow : placements_of(placed, turns_.way)) {
      all.push_back({placed.seconds_at_least(slow),
                     [this, &placed, slow](double) { return told(placed.plan(slow)); }, slow});
      if (moved) add_moves(placed, moved, slow, all);
    }
    return all;
  }

  /// Adds the plans with moves: of weights, of tensors that wait in the second memory, or of both. Asynchronous moves
  /// of weights may also be made if they take longer than they save, because computations run meanwhile.
  void add_moves(const PlacedKinds& placed, const std::shared_ptr<const MovedWeights>& moved,
                 const TensorKinds& slow, std::vector<BoundedPlan>& all) {
    const TensorKinds worth = moved->worth_moving(slow), movable = moved->movable(slow);
    const auto add = [&](const TensorKinds& kinds, CopyMode mode, bool waiting = true) {
      const auto plan = [this, &placed, moved, slow, kinds, mode] {
        Plan made = told(placed.plan(slow));
        return kinds.empty() ? made : moved->with_moves(std::move(made), slow, kinds, mode);
      };
      const double at_least =
          kinds.empty() ? placed.seconds_at_least(slow) : moved->at_least(slow, kinds, mode);
      if (!kinds.empty()) all.push_back({at_least, [plan](double) { return plan(); }});
      if (!waiting) return;
      const auto tensors = std::make_shared<WaitingTensors>(prices_, placed, plan, mode,
                                                            !turns_.of_policy.on.overlap);
      for (std::size_t n = 0; n < WaitingTensors::most; ++n)
        all.push_back({at_least, [tensors, n](double least) { return tensors->plan(n, least); }});
    };
    add({}, CopyMode::synchronous);
    if (!worth.empty()) add(worth, CopyMode::synchronous);
    if (turns_.way != asynchronous_moves || !turns_.of_policy.on.overlap) return;
    add({}, CopyMode::asynchronous);
    if (!worth.empty()) add(worth, CopyMode::asynchronous);
    if (!movable.empty() && movable != worth)
      add(movable, CopyMode::asynchronous, /*waiting=*/false);
  }

  /// Returns a plan for each set of sizes of the hardware caches. If every set takes `worth` seconds or more, there are
  /// none.
  std::vector<BoundedPlan> behind_cache(const PlacedKinds& placed, double worth) {
    if (placed.cached_at_least() >= worth) return {};
    const auto cached = std::make_shared<const CachedTurns>(prices_, placed);
    std::vector<BoundedPlan> all;
    for (const CacheSizes& sizes : cached->sizes())
      if (cached->fit(sizes))
        all.push_back({cached->at_least(sizes), [this, cached, sizes](double) {
                         Plan plan = told(cached->plan(sizes));
                         cached->add_caches(plan, sizes);
                         return plan;
                       }});
    return all;
  }

  PolicyRequest request_;
  PlacedTurns turns_;  ///< refers to `request_`
  PlacedPrices prices_;
  std::vector<ShownRates> rates_;  ///< the rates that the shown machines have
  /// What is known for machines with these rates, by ShownPlans::all_take_turns.
  std::map<std::pair<ShownRates, bool>, ShownPlans> on_machines_;
  std::shared_ptr<PlacedPlans> placed_;
  /// The results so far. A shown machine may lead to the same placed plan as another shown machine.
  std::set<std::pair<std::string, double>> found_;
};

/// Returns the candidates for shown machines with this request in place of the request of `turns`.
Candidate candidate_of(const PlacedTurns& turns, PolicyRequest request,
                       const std::shared_ptr<PlacedPlans>& placed) {
  const auto search = std::make_shared<PlacedSearch>(turns, std::move(request), placed);
  return {.ways = search->ways(), .open = [search] { return PlacedSearch::open(search); }};
}

/// Returns the candidates for shown machines with the fates of a strategy that treats all stages alike.
Candidate candidate_of(const PlacedTurns& turns, const FateStrategy& strategy,
                       const std::shared_ptr<PlacedPlans>& placed) {
  PolicyRequest alike = turns.request;
  alike.fates = plain_fates(strategy);
  return changed(candidate_of(turns, std::move(alike), placed), [&strategy](Settled& one) {
    one.text = joined("strategy: " + strategy.name, one.text);
  });
}

}  // namespace

const std::vector<std::string>& placements_of_turns() {
  static const std::vector<std::string> ways = {static_placement,   synchronous_moves,
                                                asynchronous_moves, first_touch_placement,
                                                all_slow_placement, hardware_cache};
  return ways;
}

std::vector<Candidate> placed_turns_candidates(const PlacedTurns& turns) {
  std::vector<Candidate> candidates;
  const bool searches = turns.way == static_placement || moves_tensors(turns.way);
  if (searches && !offers_only_placed(turns.request))
    for (Candidate& one : candidates_on(turns.request, turns.of_policy))
      candidates.push_back(
          with_changed_plans(proven_for("none", std::move(one)), [turns](Plan& plan) {
            say_placement(plan, turns);
            say_gap(plan, {turns.request, turns.of_policy.on.names, turns.of_policy.passed});
          }));
  candidates.push_back(placed_on_shown_machines(turns));
  return candidates;
}

Candidate placed_on_shown_machines(const PlacedTurns& turns) {
  const auto placed = std::make_shared<PlacedPlans>();
  std::vector<Candidate> each = {candidate_of(turns, turns.request, placed)};
  // The fates that a search finds for a shown machine are the fastest there, but perhaps not in both memories. So the
  // fates of the strategies that treat all stages alike are placed, too. Only a search obeys the key `budget`.
  const PolicyRequest& request = turns.request;
  if (request.strategy().searches && !request.fates->keys.map().find("budget"))
    for (const FateStrategy* strategy : fate_catalog().entries())
      if (strategy->compared) each.push_back(candidate_of(turns, *strategy, placed));
  std::int64_t ways = 0;
  for (const Candidate& one : each) ways += one.ways;
  Candidate all = {.ways = ways, .open = [each = std::move(each)] {
                     std::vector<Candidate> opened;
                     for (const Candidate& one : each)
                       for (Candidate& next : one.open()) opened.push_back(std::move(next));
                     return opened;
                   }};
  if (!request.strategy().searches || !turns.of_policy.any_fates) return all;
  return with_bound_of_any_fates(std::move(all), [turns] {
    const PlacedPrices prices(turns.request, turns.of_policy.on.names, turns.of_policy.passed);
    return FastestMachine(turns, prices).seconds_with_any_fates();
  });
}

Draft placed_turns_draft(const PlacedTurns& turns) {
  std::vector<Candidate> candidates;
  candidates.push_back(placed_on_shown_machines(turns));
  const Settled best = judge(std::move(candidates)).best;
  if (best.plan) return best.plan();
  std::string memories;
  for (const std::string& name : turns.of_policy.on.names) {
    const auto& both = turns.request.pricing.platform.device(name).memories;
    memories += (memories.empty() ? "'" : ", or '") + both[0].pool + "' and '" + both[1].pool +
                "' together";
  }
  throw Infeasible("no plan with placement " + turns.way + " fits into the memories " + memories +
                       ": use smaller values of workload.micro_batch, or more stages",
                   shortage_of_both(turns));
}

}  // namespace sluice
