// A training step that is priced again: the same operations and instances, with the seconds of
// another machine or cost model. What is asked of a step when a plan is priced again (draft.hpp) is
// when its loads may come; making the step for it would take longer than everything else.
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
  /// A step that was made of this shape. None: its seconds are not those that price() finds, so
  /// that it has to be made anew each time.
  static std::optional<StepAgain> of(Program step, const StepShape& shape);

  /// The step with the seconds of a shape that differs from that one in seconds alone. Its loads
  /// may be given places.
  Program& priced(const StepShape& shape);

 private:
  explicit StepAgain(Program step) : step_(std::move(step)) {}
  Program step_;
  /// Instances that are loaded, and which of the shape's tensors each is as long on its way as.
  std::vector<std::pair<std::uint32_t, std::size_t>> loads_;
};

/// The step of a plan that is priced again and again, and what it was made for.
struct KnownStep {
  PriceDecisions tape;
  bool selective = false;
  std::optional<StepAgain> step;
};

}  // namespace sluice
