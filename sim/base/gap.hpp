// The gap between a result and a proven lower bound. All searches use this one definition.
#pragma once

#include <algorithm>
#include <cmath>

namespace sluice {

/// Returns (result - bound) / result, the definition that solvers of integer programmes use. The gap is 0 if the result
/// is 0 or does not exceed its bound.
inline double gap_of(double result, double bound) {
  return result == 0 ? 0 : std::max(0.0, (result - bound) / std::abs(result));
}

}  // namespace sluice
