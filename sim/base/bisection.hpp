// Finds by bisection the largest number that fits. The search assumes that if a number fits, every smaller number fits,
// too.
#pragma once

#include <cstdint>

namespace sluice {

/// Returns the largest number from `good` to `bad` - 1 for which `fits` returns true, after about log2(bad - good)
/// tests. Neither `good` nor `bad` is tested. If no number above `good` and below `bad` fits, the result is `good`.
template <class Fits>
std::int64_t largest_that_fits(std::int64_t good, std::int64_t bad, Fits&& fits) {
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace sluice
