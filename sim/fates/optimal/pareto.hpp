// Rows of schedules of which no other needs fewer bytes and fewer seconds, and how to keep such a
// row short. For frontier.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// One way to do a segment of a chain, and which points of its parts make it up.
struct ParetoNode {
  std::int64_t peak = 0;
  double seconds = 0;
  std::uint16_t split = 0;  ///< the boundary at which it splits; 0: its first stage keeps
  bool boundary_goes = false, inner_goes = false, keeps = false;
  std::uint32_t first = 0, second = 0;  ///< points of the two parts
};

/// Rising peaks, falling seconds.
using ParetoNodes = std::vector<ParetoNode>;

/// A point must be faster than one with less memory by more than the rounding of its sums.
inline bool is_faster(double seconds, double than) {
  return seconds < than * (1 - 1e-12);
}

/// A segment that splits: a point of each row, one after the other, with `held` bytes beside the
/// first.
struct ParetoSplit {
  const ParetoNodes& first;
  std::int64_t held;
  const ParetoNodes& second;
};

/// Adds the best pairs of a split that are faster than what is known with no more memory. They
/// start from `node`: no pair has a lower peak, and its seconds come on top.
void join(ParetoNode node, const ParetoSplit& split, const ParetoNodes& known, ParetoNodes& added);

/// What is best of both rows; `scratch` saves allocations.
void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch);

/// Leaves about `cap` nodes: the first, the last, the best at each of these prices (seconds a byte,
/// falling), and between them those that are faster than the one before by some factor. A row whose
/// parts hold the best at a price holds the best at that price, so at these nothing is ever lost.
void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch);

}  // namespace sluice
