// Makes schedules that are near the relaxation (relaxation.hpp) but fit at every moment, not only at the turning point.
// They are candidates of a search.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

struct FateWeights;

/// How a relaxation is rounded.
struct Rounding {
  /// Copies of the stages before this one count less than their weights, by a factor, and copies of the other stages
  /// count more. The tensors that are made early and read late have the most time for both copies, so that these copies
  /// are cheap.
  std::size_t early = 0;
  double factor = 1;
  /// The most bytes of stages that run again together, as a part of the budget.
  double segment = 1;
};

/// The choices of n stages in one row: places 0 to n - 1 are the inner tensors, and places n to 2n the boundaries.
Fate& fate_at(Choices& choices, std::size_t place);

/// Boundaries that may not be dropped with these choices are kept instead.
void keep_what_nobody_makes(Choices& choices);

/// Returns an empty tape when no attempt fits.
Tape rounded_tape(const Chain& chain, std::int64_t budget, const FateWeights& weights,
                  const Rounding& rounding);

}  // namespace sluice
