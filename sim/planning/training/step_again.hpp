// Prices a training step again: it keeps its operations and instances, but gets the seconds of another machine or cost
// model. When a plan is priced again (draft.hpp), its training step is needed only to find the places of the loads. To
// make the whole step again would take longer than all other parts of pricing a plan again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planning/draft.hpp"
#include "planning/training/step.hpp"

namespace sluice {

class StepAgain {
 public:
  /// `step` must have been made from `shape`. The result is empty if priced() could not give the step the right
  /// seconds. Then the step must be made again for each request.
  static std::optional<StepAgain> of(Program step, const StepShape& shape);

  /// Returns the step with the seconds of `shape`. `shape` may differ only in seconds from the shape from which the
  /// step was made. The caller may place the loads of the returned step.
  Program& priced(const StepShape& shape);

 private:
  explicit StepAgain(Program step) : step_(std::move(step)) {}
  Program step_;
  /// For each loaded instance: its index, and the index of a tensor in loaded_of() whose load takes as long.
  std::vector<std::pair<std::uint32_t, std::size_t>> loads_;
};

/// A step that is priced again and again, and the decisions for which it was made.
struct KnownStep {
  PriceDecisions tape;
  bool selective = false;
  std::optional<StepAgain> step;
};

}  // namespace sluice
