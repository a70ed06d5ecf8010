// Choices that a scenario leaves open are made by simulation. A policy offers candidates, and the judge takes the
// candidate whose simulated plan ends first.
//
// A candidate is defined by its structure (how the model is cut, how many micro-batches are
// computed side by side, how early loads come), never by a capacity. The structure determines how
// much memory it needs. It can be used on every device with that much memory, and takes the same
// time on any device with more. So the candidates of a smaller memory are also candidates of a
// larger one, and more memory is never slower.
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
  std::string text;  ///< what was chosen, as text of a scenario
  std::function<Plan()> plan;
  std::size_t attempt = 0;  ///< number of the cut to which it belongs
};

/// Several ways to make the open choices. They share a lower bound, so that one comparison can rule them all out.
struct Candidate {
  double at_least = 0;    ///< seconds; none of its ways is faster than this
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
  /// The second fastest of the simulated ways. It is empty if only one way fits.
  std::optional<Settled> runner_up;
};

/// Returns the fastest candidate, and the first among equally fast ones. `best.plan` is empty when none fits.
Judgement judge(std::vector<Candidate> candidates);

}  // namespace sluice
