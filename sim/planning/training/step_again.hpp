// A training step that is priced again: the same operations and instances, with the seconds of another machine or cost
// model. Pricing a plan again (draft.hpp) needs from the step only the times at which its loads may come. To make the
// whole step for this would take longer than everything else.
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
  /// Takes a step that was made from this shape. Returns none if the step's seconds are not those that price() finds.
  /// Such a step must be made again each time.
  static std::optional<StepAgain> of(Program step, const StepShape& shape);

  /// The step with the seconds of a shape that differs from the first shape only in seconds. The
  /// caller may set the positions of its loads.
  Program& priced(const StepShape& shape);

 private:
  explicit StepAgain(Program step) : step_(std::move(step)) {}
  Program step_;
  /// The loaded instances, and for each the tensor of the shape whose load takes equally long.
  std::vector<std::pair<std::uint32_t, std::size_t>> loads_;
};

/// The step of a plan that is priced repeatedly, and the decisions for which it was made.
struct KnownStep {
  PriceDecisions tape;
  bool selective = false;
  std::optional<StepAgain> step;
};

}  // namespace sluice
