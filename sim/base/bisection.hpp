// Bisection: finds the largest number that fits. It assumes that every smaller number fits, too.
#pragma once

#include <cstdint>

namespace sluice {

/// Returns the largest number from `good` to `bad` - 1 that `fits`, after about log2(bad - good) tests. Neither end is
/// tested: the result is `good` if no greater number fits.
template <class Fits>
std::int64_t largest_that_fits(std::int64_t good, std::int64_t bad, Fits&& fits) {
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace sluice
