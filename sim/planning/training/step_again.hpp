// A training step that is priced again. Its operations and instances stay. Its seconds come from another machine or
// cost model. Pricing a plan again (draft.hpp) needs only the positions of the step's loads. Making the whole step
// again would take longer than all other work of pricing a plan again.
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
  /// Takes a step that was made from this shape. Returns nothing if priced() cannot give the step
  /// the right seconds. In this case, the step must be made again for each request.
  static std::optional<StepAgain> of(Program step, const StepShape& shape);

  /// Returns the step with the seconds of `shape`. Only its seconds may differ from the shape for
  /// which the step was made. The caller may set the positions of the step's loads.
  Program& priced(const StepShape& shape);

 private:
  explicit StepAgain(Program step) : step_(std::move(step)) {}
  Program step_;
  /// By loaded instance: its index, and an index into loaded_of(). The load of this other tensor takes equally long.
  std::vector<std::pair<std::uint32_t, std::size_t>> loads_;
};

/// A step that is priced repeatedly, and the decisions for which it was made.
struct KnownStep {
  PriceDecisions tape;
  bool selective = false;
  std::optional<StepAgain> step;
};

}  // namespace sluice
