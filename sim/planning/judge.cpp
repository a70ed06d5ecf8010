#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <set>
#include <utility>

#include "base/interrupt.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "planning/candidate.hpp"
#include "planning/judge_until.hpp"

namespace sluice {

namespace {

/// Returns whether time `a` is shorter than time `b` by more than a rounding error. If two times differ only by
/// rounding, the way that was simulated first wins.
bool faster(double a, double b) {
  return a < b * (1 - 1e-12);
}

/// Takes a simulated way of a candidate with the lower bound `at_least`.
void note(Judgement& judgement, const Settled& settled, double at_least) {
  ++judgement.simulated;
  if (settled.seconds == never) return;
  if (settled.seconds < at_least * (1 - 1e-9))
    judgement.beaten_bound =
        settled.text + ": " + format_quantity(settled.seconds, Dimension::seconds) +
        " instead of at least " + format_quantity(at_least, Dimension::seconds);
  if (!judgement.best.plan || faster(settled.seconds, judgement.best.seconds)) {
    if (judgement.best.plan) judgement.runner_up = std::move(judgement.best);
    judgement.best = settled;
  } else if (!judgement.runner_up || faster(settled.seconds, judgement.runner_up->seconds)) {
    judgement.runner_up = settled;
  }
}

}  // namespace

std::function<Plan()> keeping(Plan plan) {
  return [kept = std::make_shared<const Plan>(std::move(plan))] { return *kept; };
}

Candidate changed(Candidate candidate, const CandidateChange& change) {
  const auto guarded = [guard = change.guard](const std::function<void()>& call) {
    guard ? guard(call) : call();
  };
  if (!candidate.same_ways.empty()) candidate.same_ways.insert(0, change.before_same_ways);
  if (candidate.simulate)
    candidate.simulate = [simulate = std::move(candidate.simulate), way = change.way, guarded](
                             double worth, const auto& settled) {
      guarded([&] {
        simulate(worth, [&](Settled one) {
          way(one, worth);
          settled(one);
        });
      });
    };
  if (candidate.open)
    candidate.open = [open = std::move(candidate.open), change, guarded] {
      std::vector<Candidate> opened;
      guarded([&] {
        for (Candidate& one : open()) opened.push_back(changed(std::move(one), change));
      });
      return opened;
    };
  return candidate;
}

Candidate changed(Candidate candidate, const std::function<void(Settled&)>& change,
                  const CallGuard& guard) {
  return changed(std::move(candidate),
                 {.way = [change](Settled& one, double) { change(one); }, .guard = guard});
}

Candidate with_changed_plans(Candidate candidate, const std::function<void(Plan&)>& change) {
  return changed(std::move(candidate), [change](Settled& one) {
    if (!one.plan) return;
    one.plan = [plan = std::move(one.plan), change] {
      Plan made = plan();
      change(made);
      return made;
    };
  });
}

std::string joined(const std::string& first, const std::string& rest) {
  if (first.empty() || rest.empty()) return first + rest;
  return first + (rest.front() == ';' ? "" : ", ") + rest;
}

// Candidates are simulated in the order of their lower bounds. Candidates with equal bounds are simulated in the order
// in which the policy offered them. The loop may end when the next bound is not below the best time so far, because
// then no later candidate can be faster. But the answer also names a runner-up. So the loop does not end before two
// ways that fit have been simulated.
Judgement judge(std::vector<Candidate> candidates, double worth) {
  return judge_until(std::move(candidates), worth, 0);
}

Judgement judge_until(std::vector<Candidate> candidates, double worth, double least) {
  Judgement judgement;
  const auto to_beat = [&] { return std::min(worth, judgement.best.seconds); };
  for (const Candidate& candidate : candidates) judgement.candidates += candidate.ways;
  using Turn = std::pair<double, std::size_t>;  // the lower bound and the index of a candidate
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::size_t i = 0; i < candidates.size(); ++i) turns.emplace(candidates[i].at_least, i);
  std::set<std::string> considered;
  while (!turns.empty()) {
    const auto [at_least, number] = turns.top();
    const double best_s = judgement.best.seconds;
    const bool found = judgement.best.plan && !faster(std::max(at_least, least), to_beat());
    if (found && (judgement.runner_up || best_s >= worth || !faster(least, best_s))) break;
    turns.pop();
    check_interrupt();
    const Candidate candidate = std::move(candidates[number]);
    if (!candidate.same_ways.empty() && !considered.insert(candidate.same_ways).second) continue;
    if (!candidate.open) {
      candidate.simulate(
          found || !judgement.best.plan ? never : to_beat(),
          [&, bound = at_least](const Settled& settled) { note(judgement, settled, bound); });
      continue;
    }
    for (Candidate& one : candidate.open()) {
      one.at_least = std::max(one.at_least, at_least);
      turns.emplace(one.at_least, candidates.size());
      candidates.push_back(std::move(one));
    }
  }
  return judgement;
}

}  // namespace sluice
