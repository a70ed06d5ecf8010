// Rows of schedules in which each one needs fewer bytes or fewer seconds than any other, and ways
// to keep such a row short. For frontier.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// One way to do a segment of a chain, with the points of its parts from which it is made.
struct ParetoNode {
  std::int64_t peak = 0;
  double seconds = 0;
  std::uint16_t split = 0;  ///< the boundary at which it splits; 0: its first stage keeps
  bool boundary_goes = false, inner_goes = false, keeps = false;
  std::uint32_t first = 0, second = 0;  ///< points of the two parts
};

/// Peaks rise and seconds fall along the row.
using ParetoNodes = std::vector<ParetoNode>;

/// A point must be faster than one with less memory by more than the rounding error of its sums.
inline bool is_faster(double seconds, double than) {
  return seconds < than * (1 - 1e-12);
}

/// The ways to do a segment that splits: a point of the first row and then one of the second; while
/// the first part runs, `held` further bytes are on the device.
struct ParetoSplit {
  const ParetoNodes& first;
  std::int64_t held;
  const ParetoNodes& second;
};

/// Adds the best pairs of a split that are faster than the known points with no more memory. Every
/// pair starts from `node`: its peak is a lower limit of theirs, and its seconds are added to
/// theirs.
void join(ParetoNode node, const ParetoSplit& split, const ParetoNodes& known, ParetoNodes& added);

/// The best points of both rows; `scratch` avoids allocations.
void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch);

/// Leaves about `cap` nodes: the first, the last, the best at each of these prices (seconds per
/// byte, falling), and between them those that are faster than the one before by some factor. A row
/// whose parts hold the best point at a price holds the best point at that price itself, so at
/// these prices nothing is ever lost.
void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch);

}  // namespace sluice
