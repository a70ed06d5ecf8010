// A scenario may leave choices open. Then a policy offers candidates: several ways to make these choices. The judge
// simulates them, and takes the candidate whose plan takes the least time.
//
// A candidate says three things: where the model is cut, how many micro-batches run side by side, and how early tensors
// are loaded. It does not depend on the capacity of a memory. These three things determine how much memory the
// candidate needs. The candidate fits into every memory of at least this size, and takes equally long there. So every
// candidate for a smaller memory is also a candidate for a larger memory, and more memory never makes a run slower.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// One way to make all open choices, with its simulated seconds and its plan.
struct Settled {
  double seconds = std::numeric_limits<double>::infinity();
  std::string text;  ///< the choices, as text of a scenario
  std::function<Plan()> plan;
  std::size_t attempt = 0;  ///< the index of the cut for which the plan was made
};

/// Returns a function that returns this plan, as Settled::plan. Copies of the function share the plan.
std::function<Plan()> keeping(Plan plan);

/// One or several ways to make the open choices. All these ways have the same lower bound, so a single comparison can
/// rule out all of them.
struct Candidate {
  double at_least = 0;    ///< a lower bound of the seconds of each way of this candidate
  std::int64_t ways = 1;  ///< the number of ways, including those that turn out not to fit
  /// Simulates those ways of the candidate that fit and may take less than `worth` seconds. Calls `settled` with each
  /// of them.
  std::function<void(double worth, const std::function<void(const Settled&)>& settled)> simulate =
      {};
  /// If `open` is set, the judge calls it instead of `simulate`. `open` returns a candidate for each way that fits.
  /// Each of these candidates may have a greater lower bound than this candidate. The judge has already counted their
  /// ways.
  std::function<std::vector<Candidate>()> open = {};
  /// If two candidates have the same text here, they have the same ways and the same lower bound. So the judge
  /// simulates only the first of them. If the text is empty, no candidate is known to have the same
  /// ways.
  std::string same_ways = {};
};

/// A guard gets a function. It calls the function or does not call it, and may catch what the function throws.
using CallGuard = std::function<void(const std::function<void()>& call)>;

/// How changed() changes a candidate.
struct CandidateChange {
  /// Is applied to each simulated way. `worth` is as in Candidate::simulate.
  std::function<void(Settled& way, double worth)> way;
  /// If given, each call of `simulate` and `open` goes through the guard.
  CallGuard guard = {};
  /// A text that is put before Candidate::same_ways, unless that text is empty.
  std::string before_same_ways = {};
};

/// Returns the candidate with a change. If `open` is set, the candidates that `open` returns are changed, too.
Candidate changed(Candidate candidate, const CandidateChange& change);
Candidate changed(Candidate candidate, const std::function<void(Settled&)>& change,
                  const CallGuard& guard = {});

/// Returns the candidate with a change of the plans of all its ways.
Candidate with_changed_plans(Candidate candidate, const std::function<void(Plan&)>& change);

/// Joins two texts of choices by a comma, unless one of them is empty. A second text that begins with a semicolon needs
/// no comma.
std::string joined(const std::string& first, const std::string& rest);

/// What the judge returns.
struct Judgement {
  Settled best;
  std::int64_t candidates = 0, simulated = 0;
  /// Of the simulated ways of all candidates, the second fastest. Empty if fewer than two of them fit.
  std::optional<Settled> runner_up;
  /// If a simulated way took less than the lower bound of its candidate: the way, its seconds and the bound. Then a
  /// bound is wrong, and the judge may have left out a faster way.
  std::optional<std::string> beaten_bound;
};

/// Returns the fastest way of all candidates. If several ways are equally fast, the way that was simulated first is
/// taken. If no way fits, `best.plan` is empty. If no way takes less than `worth` seconds, the result may be any way
/// that fits, and there may be no runner-up.
Judgement judge(std::vector<Candidate> candidates,
                double worth = std::numeric_limits<double>::infinity());

}  // namespace sluice
