#include "policy/settle/settle.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "fates/optimal/fitting.hpp"
#include "planning/judge_until.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/most_in_flight.hpp"
#include "policy/settle/replicas.hpp"

namespace sluice {

namespace {

/// Returns whether the fates depend on the size of the device's memory.
bool looks_at_memory(const PolicyRequest& request) {
  return request.workload.training && request.strategy().searches;
}

/// Makes a plan with the capacity of the device's memory, and simulates it. In this simulation, actions may have to
/// wait until memory has room. Throws Infeasible.
Settled simulate_waiting(const Policy& policy, const PolicyRequest& request, const Keys& keys) {
  const auto plan = std::make_shared<Plan>(finish(policy.plan(request, keys.reader()), request));
  plan->facts.emplace_back("waits_for_memory",
                           "with these choices, the plan fits only if actions wait for memory");
  return {.seconds = run_seconds(*plan), .plan = [plan] { return *plan; }};
}

/// Makes a plan without a memory limit, and simulates it without waits for memory. If the granted and requested bytes
/// together fit at every moment of this simulation, this plan fits without waiting and is in the result. If they do
/// not fit, but the simulation takes less than `worth` seconds, the result is that of simulate_waiting(). The first
/// plan does not depend on the size of the memory, and no plan waits longer with a larger memory. So every plan for a
/// small memory is also a candidate for a larger memory. Throws Infeasible.
Settled simulate(const Policy& policy, const PolicyRequest& request, const Keys& keys,
                 double worth) {
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const auto plan =
      std::make_shared<Plan>(finish(policy.plan(unlimited, keys.reader()), unlimited));
  // The comparison below needs `reserved` with the bytes of requests that are listed earlier. The replay counts these
  // bytes only for pools with a limit, so the limits are set here. But it grants every request at once (`unlimited`).
  for (Pool& pool : plan->pools) pool.enforced = request.capacity_enforced;
  const ReplayResult result = replay(*plan, ReplayOptions{.unlimited = true});
  if (result.blocking) return {};
  bool fits = true;
  for (std::size_t p = 0; request.capacity_enforced && p < plan->pools.size(); ++p) {
    const Pool& pool = plan->pools[p];
    fits = fits && (!pool.capacity || result.reserved[p] <= *pool.capacity);
  }
  if (fits) return {.seconds = result.makespan, .plan = [plan] { return *plan; }};
  return result.makespan < worth ? simulate_waiting(policy, request, keys) : Settled();
}

/// Makes a plan with the capacity of the device's memory, and simulates it. This is for two cases. First, a strategy
/// that searches for fates decides by the capacity. Second, the policy replicates another policy, and its
/// function `alone` may return the plan of one replica. If it does, only this plan is simulated, and the plan of all
/// replicas is made later, if this way is chosen. The seconds are then at least `at_least`, the lower bound of all
/// replicas, which also counts the sums of gradients. Throws Infeasible.
Settled simulate_within(const Policy& policy, const PolicyRequest& request, const Keys& keys,
                        double at_least) {
  Settled settled;
  std::optional<Draft> alone;
  if (policy.alone) alone = policy.alone(request, keys.reader());
  const bool complete = !alone;
  if (complete && policy.replicates) {
    TimedPlan all = plan_of_replicas(policy, request, keys.reader());
    settled.seconds = all.seconds();
    if (settled.seconds < never) settled.plan = keeping(std::move(all.plan));
    return settled;
  }
  const auto plan = std::make_shared<Plan>(
      finish(complete ? policy.plan(request, keys.reader()) : std::move(*alone), request));
  settled.seconds = run_seconds(*plan);
  if (settled.seconds == never) return settled;
  settled.plan = [plan] { return *plan; };
  if (complete) return settled;
  settled.seconds = std::max(settled.seconds, at_least);
  settled.plan = [&policy, &request, keys] {
    return finish(policy.plan(request, keys.reader()), request);
  };
  return settled;
}

/// A strategy that searches finds the fates with which a replica is fastest if it runs alone. If replicas delay each
/// other, the fates of another strategy may be faster. Returns the attempt itself, and then the attempt with each
/// strategy that treats all stages alike. Their texts name the strategies. Returns nothing for other strategies, if the
/// run of a single replica decides, and if the scenario gives a `budget`, which only the search obeys.
std::vector<CutAttempt> with_each_strategy(const Policy& policy, const CutAttempt& attempt,
                                           const Reader& parameters) {
  const PolicyRequest& request = attempt.request;
  if (!policy.replicates || !looks_at_memory(request) || request.fates->keys.map().find("budget") ||
      !few_replicas(request, parameters) || !delay_each_other(request, parameters))
    return {};
  const auto named = [&](const std::string& strategy) {
    return CutAttempt{request, joined(attempt.cut, "strategy: " + strategy)};
  };
  std::vector<CutAttempt> all = {named(request.strategy().name)};
  for (const FateStrategy* strategy : fate_catalog().entries()) {
    if (!strategy->compared) continue;
    all.push_back(named(strategy->name));
    all.back().request.fates = plain_fates(*strategy);
  }
  return all;
}

class Attempts {
 public:
  Attempts(const Policy& policy, const std::vector<CutAttempt>& attempts, const Reader& parameters)
      : policy_(policy), attempts_(attempts), parameters_(parameters) {
    for (const CutAttempt& attempt : attempts)
      strategies_.push_back(with_each_strategy(policy, attempt, parameters));
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (strategies_[i].empty()) add(attempts[i], i);
      for (const CutAttempt& one : strategies_[i]) add(one, i);
    }
  }

  /// Returns whether there are several ways, of which the judge must choose one.
  bool choose() const { return attempts_.size() > 1 || ways_ > 1; }

  Settlement best(double worth) {
    const ShownPlans* const known = attempts_.front().request.shown_plans;
    Judgement judgement = judge_until(std::move(candidates_), worth, known ? known->at_least : 0);
    if (!judgement.best.plan) return best_that_waits();
    return settlement(judgement.best.plan(), judgement);
  }

  /// Returns whether a candidate fits, and all other memories have room for its tensors, too. Once one fits, no further
  /// way is planned.
  bool any_fits() {
    bool found = false;
    const auto note = [&found](const Settled& one) {
      if (found || !one.plan) return;
      try {
        check(one.plan());
        found = true;
      } catch (const Infeasible&) {
        // For example, host memory is too small for the tensors whose home it is.
      }
    };
    const auto unless_found = [&found](const auto& call) {
      if (!found) call();
    };
    for (Candidate& candidate : candidates_)
      candidate = changed(std::move(candidate), note, unless_found);
    judge(std::move(candidates_));
    return found;
  }

 private:
  /// Adds the candidates of an attempt that has this number, or that has the cut of the attempt with this number.
  void add(const CutAttempt& attempt, std::size_t number) {
    unless_refused(attempt.cut, [&] {
      std::vector<Candidate> offered;
      if (policy_.candidates) offered = policy_.candidates(attempt.request, parameters_);
      for (Candidate& candidate : offered) {
        ways_ += candidate.ways;
        candidates_.push_back(with_cut(std::move(candidate), attempt.cut, number));
      }
      if (offered.empty()) add_alternatives(attempt, number);
    });
  }

  /// Calls `offer`, which offers or simulates candidates of a cut. If `offer` throws Infeasible, the error is ignored,
  /// because another cut may fit. If no cut fits, best_that_waits() reports the reason. If the cut is the only one, its
  /// name is empty, and the error is thrown.
  template <class Offer>
  static void unless_refused(const std::string& cut, const Offer& offer) {
    try {
      offer();
    } catch (const Infeasible&) {
      if (cut.empty()) throw;
    }
  }

  /// Adds the name of the cut to the texts that describe the candidate's choices.
  static Candidate with_cut(Candidate candidate, const std::string& cut, std::size_t number) {
    const auto change = [cut, number](Settled& one) {
      one.text = joined(cut, one.text);
      one.attempt = number;
    };
    return changed(std::move(candidate), change,
                   [cut](const auto& call) { unless_refused(cut, call); });
  }

  void add_alternatives(const CutAttempt& attempt, std::size_t number) {
    std::vector<Value> maps;
    if (policy_.alternatives) maps = policy_.alternatives(attempt.request, parameters_);
    const std::vector<CutAttempt>& strategies = strategies_[number];
    // The policy knows no other way than the scenario's keys, and the strategy is that of the scenario.
    const bool asked = maps.empty() && (strategies.empty() || &attempt == &strategies.front());
    if (maps.empty()) maps.push_back(parameters_.map());
    const Record record = record_of(policy_);
    const BoundOfWays bound = bound_of_ways(attempt.request);
    for (Value& map : maps) {
      const Keys keys(std::move(map), record);
      const std::string text = joined(attempt.cut, difference(keys.map(), parameters_.map()));
      const double at_least = least_seconds(bound, keys);
      ++ways_;
      candidates_.push_back(
          {at_least, 1,
           [this, &attempt, number, keys, text, asked, at_least](double worth,
                                                                 const auto& settled) {
             const PolicyRequest& request = attempt.request;
             Settled one;
             try {
               one = policy_.replicates || looks_at_memory(request)
                         ? simulate_within(policy_, request, keys, at_least)
                         : simulate(policy_, request, keys, worth);
             } catch (const Infeasible&) {  // another cut may fit
             } catch (const InputError&) {
               if (asked) throw;
               // A way for which the scenario did not ask is skipped if it has an error. If all ways are skipped,
               // best_that_waits() reports an error.
             }
             one.text = text;
             one.attempt = number;
             settled(one);
           }});
    }
  }

  /// Returns the policy's function for lower bounds, or null. If there is an error, returns null: the error is reported
  /// when a plan is made.
  BoundOfWays bound_of_ways(const PolicyRequest& request) const {
    try {
      if (policy_.at_least) return policy_.at_least(request, parameters_);
    } catch (const Infeasible&) {
    } catch (const InputError&) {
    }
    return {};
  }

  /// Returns a lower bound of the seconds of the plan with these keys. If the plan may have an error, returns 0.
  static double least_seconds(const BoundOfWays& bound, const Keys& keys) {
    try {
      if (bound) return bound(keys.reader());
    } catch (const Infeasible&) {
    } catch (const InputError&) {
    }
    return 0;
  }

  /// Returns the settlement with the plan that the judge chose. The plan gets facts that describe the choice.
  static Settlement settlement(Plan plan, const Judgement& judgement) {
    plan.facts.emplace_back("chosen", judgement.best.text);
    plan.facts.emplace_back("chosen_s", judgement.best.seconds, "s");
    plan.facts.emplace_back("chosen_from", judgement.candidates);
    plan.facts.emplace_back("simulated", judgement.simulated);
    if (judgement.beaten_bound) plan.facts.emplace_back("beaten_bound", *judgement.beaten_bound);
    if (judgement.runner_up) {
      plan.facts.emplace_back("runner_up", judgement.runner_up->text);
      plan.facts.emplace_back("runner_up_s", judgement.runner_up->seconds, "s");
    }
    return {std::move(plan), judgement.best.attempt, judgement.best.seconds};
  }

  /// Is called if no candidate fits without waiting. For each attempt, the policy itself makes all open choices except
  /// cut and fates, and its plan may wait for memory. Returns the fastest of these plans. If none fits, throws the
  /// error of the attempt that allows the most micro-batches in flight. If several attempts allow equally many, it is
  /// the error of the last of them, which has the finest cut.
  Settlement best_that_waits() const {
    std::exception_ptr failure;
    std::int64_t most_in_flight = 0;
    std::vector<Candidate> waiting;
    for (std::size_t i = 0; i < attempts_.size(); ++i)
      waiting.push_back(
          {0, 1, [this, i, &failure, &most_in_flight](double, const auto& settled) {
             Settled one;
             try {
               const auto plan = std::make_shared<Plan>(
                   finish(policy_.plan(attempts_[i].request, parameters_), attempts_[i].request));
               check(*plan);
               one.seconds = run_seconds(*plan);
               one.plan = [plan] { return *plan; };
             } catch (const Infeasible& infeasible) {
               const std::int64_t most = infeasible.shortage.most_in_flight.value_or(0);
               if (most >= most_in_flight) failure = std::current_exception();
               most_in_flight = std::max(most, most_in_flight);
             }
             one.text = attempts_[i].cut;
             one.attempt = i;
             settled(one);
           }});
    const Judgement judgement = judge(std::move(waiting));
    if (!judgement.best.plan && failure) std::rethrow_exception(failure);
    if (!judgement.best.plan) throw InternalError("a plan blocks although it was checked");
    Plan plan = judgement.best.plan();
    plan.facts.emplace_back("waits_for_memory", "no candidate fits without waiting");
    if (attempts_.size() == 1) return {std::move(plan)};
    return settlement(std::move(plan), judgement);
  }

  const Policy& policy_;
  const std::vector<CutAttempt>& attempts_;
  const Reader& parameters_;
  std::vector<std::vector<CutAttempt>> strategies_;  ///< with_each_strategy() of each attempt
  std::vector<Candidate> candidates_;
  std::int64_t ways_ = 0;
};

/// The errors of the plans that the policy itself makes for the attempts, beginning with the last attempt.
struct Refusals {
  /// The shortage of the attempt that allows the most micro-batches in flight.
  std::optional<Shortage> allows_most = {};
  std::exception_ptr input_error = {};

  void add(const Shortage& shortage) {
    const auto most = [](const Shortage& one) { return one.most_in_flight.value_or(0); };
    if (!allows_most || most(shortage) > most(*allows_most)) allows_most = shortage;
  }
  /// Returns the shortage that settle() reports. If all plans have other errors, throws one of them.
  Shortage shortage() const {
    if (!allows_most && input_error) std::rethrow_exception(input_error);
    return allows_most.value_or(Shortage());
  }
};

/// Does what settle() does. But if no plan fits, the error is the error of one attempt. Its number of micro-batches in
/// flight holds for the choices of this attempt: with another cut or other choices, more micro-batches may fit.
Settlement settle_once(const Policy& policy, const std::vector<CutAttempt>& attempts,
                       const Reader& parameters, double worth = never) {
  Attempts all(policy, attempts, parameters);
  const PolicyRequest& first = attempts.front().request;
  if (all.choose()) return all.best(worth);
  Draft draft = policy.plan(first, parameters);
  std::optional<PriceAgain> price_again = PriceAgain::of(draft);
  return {.plan = finish(std::move(draft), first), .price_again = std::move(price_again)};
}

}  // namespace

std::string difference(const Value& settled, const Value& asked) {
  std::string text;
  for (const Value::Entry& entry : settled.entries()) {
    const Value* before = asked.find(entry.key);
    if (!entry.value.is_scalar() || (before && before->text() == entry.value.text())) continue;
    text = joined(text, entry.key + ": " + entry.value.text());
  }
  return text;
}

// The plan that the policy itself makes for an attempt (CutAttempt) usually needs no more bytes than the attempt's
// candidates. So these plans are tried first, beginning with the finest cut.
FitQuestion ask_whether_fits(const Policy& policy, std::vector<CutAttempt> attempts,
                             const Reader& parameters) {
  for (CutAttempt& attempt : attempts)
    if (looks_at_memory(attempt.request)) attempt.request.fates->entry = &fitting_fates;
  Refusals refusals;
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) try {
      const Plan plan = finish(policy.plan(attempt->request, parameters), attempt->request);
      check(plan);
      return {.actions = static_cast<std::int64_t>(plan.actions.size())};
    } catch (const Infeasible& infeasible) {
      refusals.add(infeasible.shortage);
    } catch (const InputError&) {  // other choices may not have this error
      refusals.input_error = std::current_exception();
    }
  try {
    Attempts all(policy, attempts, parameters);
    if (all.choose() && all.any_fits()) return {};
  } catch (const Infeasible& infeasible) {
    return {.missing = infeasible.shortage};
  }
  return {.missing = refusals.shortage()};
}

Settlement settle(const Policy& policy, const std::vector<CutAttempt>& attempts,
                  const Reader& parameters) {
  try {
    return settle_once(policy, attempts, parameters);
  } catch (const Infeasible& infeasible) {
    Shortage shortage = infeasible.shortage;
    if (!shortage.most_in_flight) throw;
    const std::int64_t most = most_in_flight(
        {policy, parameters, attempts.front().request.workload, *shortage.most_in_flight},
        [&](const Reader& tried) { return !ask_whether_fits(policy, attempts, tried).missing; });
    shortage.most_in_flight = most;
    if (most == 0) throw Infeasible(infeasible.what(), std::move(shortage));
    throw Infeasible(
        std::string(infeasible.what()) +
            "\n  the greatest number of micro-batches in flight that fits: " + std::to_string(most),
        std::move(shortage));
  }
}

Settlement settle(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                  double worth) {
  return settle_once(policy, {{request, ""}}, parameters, worth);
}

}  // namespace sluice
