// Bisection: the largest number that fits, where every smaller number fits as well.
#pragma once

#include <cstdint>

namespace sluice {

/// The largest number from `good` to `bad` - 1 that `fits`. It asks about log2(bad - good) times.
/// Neither end is asked about: `good` is the answer where nothing above it fits.
template <class Fits>
std::int64_t most_that_fits(std::int64_t good, std::int64_t bad, Fits&& fits) {
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace sluice
