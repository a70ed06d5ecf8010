// Lower bounds of seconds that allow for rounding errors.
#pragma once

#include <limits>

namespace sluice {

/// Returns a lower bound on the seconds of a run that adds this many numbers one after the other, if `seconds` is a
/// lower bound on their exact sum. The result of each addition is its exact result times a factor of at least 1 -
/// 2^-53, because a double has 53 binary digits. All terms are positive, so the errors of n additions multiply the sum
/// by at least 1 - n * 2^-53, because (1 - x)^n >= 1 - n * x. For example, ten million additions of 0.1 give a sum that
/// is too small by a share of 1.6e-10. The function subtracts another 1e-13 for the last digits of the prices, and for
/// the sums over a few micro-batches from which a bound is made. The judge ignores relative differences up to 1e-12.
/// With fewer than 8000 additions, the difference is smaller: 8000 * 2^-53 + 1e-13 < 1e-12.
inline double lowered_for_rounding(double seconds, double additions) {
  constexpr double addition = std::numeric_limits<double>::epsilon() / 2, prices = 1e-13;
  return seconds * (1 - prices - additions * addition);
}

}  // namespace sluice
