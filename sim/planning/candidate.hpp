// Choices that a scenario leaves open are made by simulation. A policy offers candidates, and the judge takes the
// candidate whose simulated plan ends first.
//
// A candidate is defined by its structure (how the model is cut, how many micro-batches are
// computed side by side, how early loads come), never by a capacity. The structure determines how
// much memory it needs. A candidate can be used on every device with this much memory, and does not become faster or
// slower on a device with more memory. So all candidates for a smaller memory are also candidates for a larger memory,
// and more memory is never slower.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// One way to make all open choices, after its simulation: its seconds and its plan.
struct Settled {
  double seconds = std::numeric_limits<double>::infinity();
  std::string text;  ///< the choices, as text of a scenario
  std::function<Plan()> plan;
  std::size_t attempt = 0;  ///< number of the cut for which it was made
};

/// One or several ways to make the open choices. They share a lower bound, so that one comparison can rule out all of
/// them.
struct Candidate {
  double at_least = 0;    ///< lower bound of the seconds of all its ways
  std::int64_t ways = 1;  ///< the number of ways, including those that turn out not to fit
  /// Simulates the ways that fit and may take less than `worth` seconds, and passes each of them to
  /// `settled`.
  std::function<void(double worth, const std::function<void(const Settled&)>& settled)> simulate =
      {};
  /// If set, this function is called instead of `simulate`. It returns one candidate with a closer lower bound for each
  /// way that fits. The ways of these candidates are not counted again.
  std::function<std::vector<Candidate>()> open = {};
};

/// The result of the judge.
struct Judgement {
  Settled best;
  std::int64_t candidates = 0, simulated = 0;
  /// The second fastest of the simulated ways, or nothing if only one way fits.
  std::optional<Settled> runner_up;
};

/// Returns the fastest way, and of several equally fast ways the first one. `best.plan` is empty if no way fits.
Judgement judge(std::vector<Candidate> candidates);

}  // namespace sluice
