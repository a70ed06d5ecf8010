// Makes schedules that are similar to the solution of the relaxation (relaxation.hpp). The solution fits into memory at
// the turning point, and these schedules fit at every moment. The schedules are candidates of a search.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

struct FateWeights;

/// How the weights and choices of a relaxation are changed to make a tape from them.
struct Rounding {
  /// The weights of copies of the stages before stage `early` are divided by `factor`. The weights of all other copies
  /// are multiplied by `factor`. The backward pass reads the tensors of early stages last. So there is much time for
  /// the copies of these tensors, and the copies are cheap.
  std::size_t early = 0;
  double factor = 1;
  /// Some stages run again together. The most bytes that these stages may make, as a share of the budget.
  double segment = 1;
};

/// Returns one of the choices of n stages. Places 0 to n - 1 are the inner tensors, and places n to 2n are the
/// boundaries.
Fate& fate_at(Choices& choices, std::size_t place);

/// Gives some dropped boundaries the fate `keep`: the answer, and each boundary that no recomputed stage makes.
void keep_what_nobody_makes(Choices& choices);

/// Returns a tape that fits into the budget. Returns an empty tape if no attempt fits.
Tape rounded_tape(const Chain& chain, std::int64_t budget, const FateWeights& weights,
                  const Rounding& rounding);

}  // namespace sluice
