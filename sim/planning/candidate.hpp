// If a scenario leaves choices open, Sluice makes these choices by simulation. A policy offers candidates. The judge
// takes the candidate whose simulated plan ends first.
//
// A candidate is defined by its structure, and never by a capacity. The structure says three things: where the model
// is cut, how many micro-batches run side by side, and how early tensors are loaded. The structure determines how
// much memory the candidate needs. The candidate can be used on every device with at least this memory, and takes
// equally long on each of them. So every candidate for a smaller memory is also a candidate for a larger memory. It
// follows that more memory never makes a run slower.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// One way to make all open choices, with the seconds and the plan that its simulation gave.
struct Settled {
  double seconds = std::numeric_limits<double>::infinity();
  std::string text;  ///< the choices, as text of a scenario
  std::function<Plan()> plan;
  std::size_t attempt = 0;  ///< the index of the cut for which the plan was made
};

/// One or several ways to make the open choices. They share a lower bound. So one comparison can rule out all of
/// them.
struct Candidate {
  double at_least = 0;    ///< a lower bound of the seconds of each way of this candidate
  std::int64_t ways = 1;  ///< the number of ways, including those that turn out not to fit
  /// Simulates the ways that fit and may take less than `worth` seconds. Passes each of them to `settled`.
  std::function<void(double worth, const std::function<void(const Settled&)>& settled)> simulate =
      {};
  /// If `open` is set, the judge calls it instead of `simulate`. `open` returns a candidate for each way that fits,
  /// with a bound of its own, at least `at_least`. The judge does not count these ways again.
  std::function<std::vector<Candidate>()> open = {};
  /// Candidates with the same text `same_ways` have the same ways and the same lower bound. The judge considers only
  /// the first of these candidates. Candidates with an empty text are all considered.
  std::string same_ways = {};
};

/// A guard decides whether to call the function that it gets. The guard may also catch what the call throws.
using CallGuard = std::function<void(const std::function<void()>& call)>;

/// Returns a candidate whose simulated ways are changed by `change`. If `open` is set, this also holds for the ways of
/// the opened candidates. Each call of `simulate` and `open` goes through `guard`, if `guard` is given.
Candidate changed(Candidate candidate, const std::function<void(Settled&)>& change,
                  const CallGuard& guard = {});

/// What the judge returns.
struct Judgement {
  Settled best;
  std::int64_t candidates = 0, simulated = 0;
  /// The second fastest of the simulated ways, or nothing if only one way fits.
  std::optional<Settled> runner_up;
};

/// Returns the fastest way. If several ways are equally fast, returns the first of them. `best.plan` is empty if no way
/// fits.
Judgement judge(std::vector<Candidate> candidates);

}  // namespace sluice
