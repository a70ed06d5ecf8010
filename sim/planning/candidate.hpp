// Choices that a scenario leaves open are settled by seconds: a policy offers candidates, and the
// judge takes the one whose simulated plan ends first.
//
// A candidate is named by its structure (how the model is cut, how many micro-batches are computed
// side by side, how far loads go ahead), never by a capacity. What it needs on the device follows
// from that structure. It takes part exactly where the device has that much memory, and takes the
// same time on any device with more. So the candidates of a smaller memory are among those of a
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

/// A way with every choice settled: how long it takes, and its plan.
struct Settled {
  double seconds = std::numeric_limits<double>::infinity();
  std::string text;  ///< what was chosen, as a scenario would write it
  std::function<Plan()> plan;
  std::size_t attempt = 0;  ///< number of the cut
};

/// Ways to settle the open choices that share a lower bound.
struct Candidate {
  double at_least = 0;    ///< seconds; none of its ways is faster
  std::int64_t ways = 1;  ///< how many there are, before it is known which of them fit
  /// Simulates those of its ways that fit and may take less than `worth` seconds, and passes each
  /// of them to `settled`.
  std::function<void(double worth, const std::function<void(const Settled&)>& settled)> simulate =
      {};
  /// Replaces `simulate`: those of its ways that fit, each on its own, with lower bounds that are
  /// closer to their seconds. Their ways are not counted again.
  std::function<std::vector<Candidate>()> open = {};
};

/// The result of the judge.
struct Judgement {
  Settled best;
  std::int64_t candidates = 0, simulated = 0;
  /// The second fastest of those that were simulated; none where only one fits.
  std::optional<Settled> runner_up;
};

/// The fastest of all candidates; among equal ones the first. `best.plan` is empty where none fits.
Judgement judge(std::vector<Candidate> candidates);

}  // namespace sluice
