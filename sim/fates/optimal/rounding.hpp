// Schedules near the relaxation of plan/passes/fate_relaxation that fit at every moment, not at the
// turning point alone: candidates for a search.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

struct FateWeights;

/// How a relaxation is rounded.
struct Rounding {
  /// Copies of the stages before this one count less than their weights by a factor, the others
  /// more by it: what is made early and read late has the most time for both copies.
  std::size_t early = 0;
  double factor = 1;
  double segment = 1;  ///< most bytes of a row of stages that run again together, of the budget
};

/// Empty where nothing that was tried fits.
Tape rounded_tape(const Chain& chain, std::int64_t budget, const FateWeights& weights,
                  const Rounding& rounding);

}  // namespace sluice
