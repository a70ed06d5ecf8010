// Schedules near the relaxation (relaxation.hpp) that fit at every moment, not only at the turning
// point: candidates for a search.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

struct FateWeights;

/// How a relaxation is rounded.
struct Rounding {
  /// Copies of the stages before this one count less than their weights by a factor, those of the
  /// others more: what is made early and read late has the most time for both copies.
  std::size_t early = 0;
  double factor = 1;
  double segment = 1;  ///< the most bytes of stages that run again together, as a share of the
                       ///< budget
};

/// Empty where no attempt fits.
Tape rounded_tape(const Chain& chain, std::int64_t budget, const FateWeights& weights,
                  const Rounding& rounding);

}  // namespace sluice
