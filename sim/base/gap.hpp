// How far a result is from a proven lower bound: one definition for whatever searches.
#pragma once

#include <algorithm>
#include <cmath>

namespace sluice {

/// As a part of the result, as solvers of integer programmes have it: (result - bound) / result; 0
/// where the result is 0, or no greater than its bound.
inline double gap_of(double result, double bound) {
  return result == 0 ? 0 : std::max(0.0, (result - bound) / std::abs(result));
}

}  // namespace sluice
