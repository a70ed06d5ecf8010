// Rows of Pareto-optimal schedules: each schedule needs fewer bytes or fewer seconds than any other in the row. This
// file also keeps such a row short. frontier.hpp uses it.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// One way to execute a segment of a chain, with the points of its parts from which it is made.
struct ParetoNode {
  std::int64_t peak = 0;
  double seconds = 0;
  /// The boundary at which it splits; 0 if its first stage keeps its inner tensors.
  std::uint16_t split = 0;
  bool boundary_goes = false, inner_goes = false, keeps = false;
  std::uint32_t first = 0, second = 0;  ///< positions in the rows of the two parts
};

/// Peaks rise and seconds fall along the row.
using ParetoNodes = std::vector<ParetoNode>;

/// A point counts as faster than one with less memory only if the difference exceeds the rounding error of the sums.
inline bool is_faster(double seconds, double than) {
  return seconds < than * (1 - 1e-12);
}

/// The ways to execute a segment that splits: first a point of the first row, then a point of the
/// second row. While the first part runs, `held` further bytes are on the device.
struct ParetoSplit {
  const ParetoNodes& first;
  std::int64_t held;
  const ParetoNodes& second;
};

/// Adds those pairs of a split that are faster than the known points with no more memory. Each pair starts
/// from `node`: the peak of `node` is the least possible peak, and its seconds are added to those of the
/// pair.
void join(ParetoNode node, const ParetoSplit& split, const ParetoNodes& known, ParetoNodes& added);

/// Merges the best points of both rows into `nodes`. `scratch` is memory that is used again, to avoid allocations.
void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch);

/// Reduces the row to about `cap` nodes. These are the first, the last, and the best at each of these prices (in
/// seconds per byte, falling). Of the other nodes, those stay that are faster than the previous node by some factor. If
/// the rows of two parts contain the best points at a price, the row made from them contains its best point at this
/// price, too. So no best point at these prices is lost.
void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch);

}  // namespace sluice
