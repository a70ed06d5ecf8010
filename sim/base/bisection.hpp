// Finds by bisection the largest number that fits: for example, the most micro-batches that fit into a memory. The
// search assumes that a smaller number always fits, too.
#pragma once

#include <cstdint>

namespace sluice {

/// Searches between `good`, which fits, and `bad`, which does not fit. `good` and `bad` are not tested. Returns the
/// largest number that fits. If no number between them fits, the result is `good`. Makes about log2(bad - good) tests.
template <class Fits>
std::int64_t largest_that_fits(std::int64_t good, std::int64_t bad, Fits&& fits) {
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace sluice
