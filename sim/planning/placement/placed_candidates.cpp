#include "planning/placement/placed_candidates.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "fates/optimal/report.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/any_fates.hpp"
#include "planning/placement/placed_bound.hpp"
#include "planning/placement/placed_digest.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/placement/placed_question.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {
namespace {

/// A run whose tensors are placed, with the fates that one strategy chooses. The strategy may search for its fates for
/// a long time, so the search starts only at the first call of fates().
class FatesToPlace {
 public:
  FatesToPlace(PolicyRequest request, const CommonParameters& common, std::string policy)
      : request_(std::move(request)), common_(common), policy_(std::move(policy)) {}

  const std::string& strategy() const { return request_.strategy().name; }
  const FateChoice& fates() const {
    if (!fates_) fates_ = placed_fates(request_, common_);
    return *fates_;
  }

  /// Returns a candidate for the placement method `way`. The search for the placement starts only when the judge asks
  /// for the candidate's seconds.
  static Candidate candidate(const std::shared_ptr<const FatesToPlace>& placed,
                             const std::string& way, const std::string& text) {
    // A run computes the fewest passes if all activations are kept. So the bound for kept activations holds for all
    // fates, and no search for fates is necessary here.
    const bool searches = placed->request_.strategy().searches;
    const bool cached = way == hardware_cache;
    FateChoice fates = searches ? FateChoice{} : placed->fates();
    if (cached) fates = fates_behind_cache(std::move(fates), placed->request_, placed->common_);
    const PlacedQuestion asked(placed->request_, placed->common_, fates, placed->policy_, {});
    return {.at_least = PlacedBound(asked, placed->request_, placed->common_, cached).seconds(),
            .simulate =
                [placed, way, text](double worth, const auto& use) {
                  Settled one = placed->settled(way, text, worth);
                  if (one.plan) one.plan = [placed, plan = std::move(one.plan)] { return plan(); };
                  use(one);
                },
            .same_ways = searches ? "" : way + " " + placed_digest(asked)};
  }

 private:
  /// If a method that moves tensors finds no plan below `worth`, the result is the plan without moves that is found
  /// most quickly. Then this candidate can be the runner-up, and the judge need not search moves for another candidate
  /// only to name a runner-up. The object must outlive the plan of the result.
  Settled settled(const std::string& way, const std::string& text, double worth) const {
    try {
      std::optional<PlacedDraft> placed =
          placed_draft({request_, common_, fates(), policy_, way, worth});
      if (!placed && moves_tensors(way))
        placed = placed_draft({request_, common_, fates(), policy_, "all_slow"});
      if (placed) {
        Settled one =
            sluice::settled(text, [&] { return finish(std::move(placed->draft), request_); });
        if (one.plan)
          one.plan = [plan = std::move(one.plan), say_gap = std::move(placed->say_gap)] {
            Plan chosen = plan();
            say_gap(chosen);
            return chosen;
          };
        return one;
      }
    } catch (const InputError&) {
      // The scenario did not ask for this placement, so its error is ignored.
    } catch (const Infeasible&) {
    }
    return {.text = text};
  }

  PolicyRequest request_;
  CommonParameters common_;
  std::string policy_;
  mutable std::optional<FateChoice> fates_;
};

/// Returns whether the two choices of fates are equal. Selective recomputation counts only if the model has layers that
/// it runs again.
bool same_fates(const Model& model, const FateChoice& a, const FateChoice& b) {
  const auto drops = [&](const FateChoice& fates) {
    return fates.selective &&
           std::any_of(model.layers.begin(), model.layers.end(),
                       [](const Layer& layer) { return layer.backward.selective; });
  };
  return a.tape == b.tape && drops(a) == drops(b);
}

using PlacedRuns = std::vector<std::shared_ptr<const FatesToPlace>>;

/// Adds the fates of a strategy that treats all stages alike, unless `all` already has equal fates.
void add_strategy(const FateStrategy& strategy, const PolicyRequest& request,
                  const CommonParameters& common, const std::string& policy, PlacedRuns& all) {
  PolicyRequest alike = request;
  alike.fates = plain_fates(strategy);
  const auto added = std::make_shared<FatesToPlace>(std::move(alike), common, policy);
  if (std::none_of(all.begin(), all.end(), [&](const auto& known) {
        return same_fates(request.pricing.model, known->fates(), added->fates());
      }))
    all.push_back(added);
}

/// Returns the fates for which tensors are placed: the fates of the request's strategy. If this strategy searches, the
/// result also has the fates of all strategies that treat every stage alike. If several strategies choose equal fates,
/// only that strategy counts which is the first of them in the catalog. So the result is empty if the request's
/// strategy does not search and an earlier strategy chooses the same fates. These fates are compared in the request of
/// this earlier strategy.
PlacedRuns fates_to_place(const PolicyRequest& request, const CommonParameters& common,
                          const std::string& policy) {
  const FateStrategy& own = request.strategy();
  // Only a strategy that searches obeys the key `budget` of fates. So with this key, no other strategy is compared.
  const bool only_own =
      own.searches ? request.fates->keys.map().find("budget") != nullptr : !request.fates_open;
  if (only_own) return {std::make_shared<FatesToPlace>(request, common, policy)};
  PlacedRuns all;
  for (const FateStrategy* strategy : fate_catalog().entries()) {
    if (!strategy->compared) continue;
    add_strategy(*strategy, request, common, policy, all);
    // The strategies that follow the request's own strategy in the catalog do not matter here.
    if (!own.searches && strategy->name == own.name) break;
  }
  if (own.searches)
    all.push_back(std::make_shared<FatesToPlace>(request, common, policy));
  else
    std::erase_if(all, [&](const auto& known) { return known->strategy() != own.name; });
  return all;
}

/// Returns the bound of runs with the placement method `way` and with any fates. A run computes the fewest passes if
/// all activations are kept. So the bound for kept activations holds for all fates.
PlacedBound bound_of_any_fates(const PolicyRequest& request, const CommonParameters& common,
                               const std::string& policy, const std::string& way) {
  const bool cached = way == hardware_cache;
  const FateChoice kept = cached ? fates_behind_cache(FateChoice{}, request, common) : FateChoice{};
  return {PlacedQuestion(request, common, kept, policy, {}), request, common, cached};
}

/// Returns a candidate without plans. It is for a request whose strategy chooses the same fates as an earlier strategy
/// of the catalog. The candidates for the earlier strategy's request already have these fates.
Candidate placed_for_another_request() {
  return {.at_least = std::numeric_limits<double>::infinity(), .ways = 0, .open = [] {
            return std::vector<Candidate>();
          }};
}

}  // namespace

std::vector<Candidate> placed_candidates(const PolicyRequest& request,
                                         const CommonParameters& common, const std::string& policy,
                                         const std::vector<std::string>& ways) {
  std::vector<Candidate> candidates;
  try {
    const auto all = fates_to_place(request, common, policy);
    if (all.empty()) return {placed_for_another_request()};
    for (const auto& placed : all) {
      for (const std::string& way : ways) {
        std::string text = ways.size() > 1 ? "placement: " + way : "";
        if (placed->strategy() != request.strategy().name)
          text += (text.empty() ? "strategy: " : ", strategy: ") + placed->strategy();
        candidates.push_back(FatesToPlace::candidate(placed, way, text));
        if (request.strategy().searches)
          candidates.back() = with_bound_of_any_fates(
              std::move(candidates.back()), [&request, common, policy, way] {
                return bound_of_any_fates(request, common, policy, way).seconds();
              });
        if (ways.size() > 1) candidates.back() = proven_for(way, std::move(candidates.back()));
      }
    }
  } catch (const InputError&) {
    // This error is ignored here. If the scenario asks for a placement, placed_plan() reports the error.
    return {};
  } catch (const Infeasible&) {
    return {};
  }
  return candidates;
}

void say_gap(const PolicyRequest& request, const CommonParameters& common,
             const std::string& policy, const std::string& way, Draft& draft) {
  const double seconds = run_seconds(finish(draft, request));
  if (seconds == std::numeric_limits<double>::infinity()) return;  // the plan does not fit
  const double bound = bound_of_any_fates(request, common, policy, way).seconds();
  draft.plan.facts.push_back(run_bound_fact(bound));
  draft.plan.facts.push_back(gap_fact(seconds, bound));
}

Candidate proven_for(const std::string& placement, Candidate candidate) {
  return with_changed_plans(std::move(candidate), [placement](Plan& plan) {
    for (Fact& fact : plan.facts)
      if (is_proven(fact)) fact.of = "placement " + placement;
  });
}

}  // namespace sluice
