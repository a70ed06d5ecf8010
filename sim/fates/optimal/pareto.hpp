// Makes rows of Pareto-optimal schedules for the search of frontier.hpp, and keeps these rows short. Pareto-optimal
// means: compared with any other schedule of its row, a schedule needs fewer bytes or fewer seconds.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

/// A node, or point, is one schedule of a segment of a chain. If the segment is split, the node refers to the nodes of
/// the two parts.
struct ParetoNode {
  std::int64_t peak = 0;
  double seconds = 0;
  /// The boundary at which the segment splits. If the first stage keeps its inner tensors, the segment does not split,
  /// and the number is 0.
  std::uint16_t split = 0;
  bool boundary_goes = false, inner_goes = false, keeps = false;
  /// If the segment splits, the indices of the nodes of its two parts. Each part has a row of nodes (ParetoNodes), and
  /// its index counts in this row.
  std::uint32_t first = 0, second = 0;
};

/// A row of nodes, in the order of rising peaks and falling seconds.
using ParetoNodes = std::vector<ParetoNode>;

/// Returns whether `seconds` is less than `than` by more than a rounding error.
inline bool is_faster(double seconds, double than) {
  return seconds < than * (1 - 1e-12);
}

/// The ways to execute a segment that splits into two parts. Each point of the row `first` can be combined with each
/// point of the row `second`. While the first part runs, the device holds `held` bytes in addition.
struct ParetoSplit {
  const ParetoNodes& first;
  std::int64_t held;
  const ParetoNodes& second;
};

/// Each pair of points of a split, with one point of each part, gives a new point. The peak of the new point is at
/// least `node.peak`, and its seconds include `node.seconds`. Adds to `added` each new point that is faster than all
/// `known` points with the same peak or a lower peak.
void join(ParetoNode node, const ParetoSplit& split, const ParetoNodes& known, ParetoNodes& added);

/// Merges the best points of `nodes` and `added` into `nodes`. `scratch` is memory of earlier calls, which saves
/// allocations.
void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch);

/// Reduces the row to about `cap` nodes. The first node, the last node, and the best node at each of the prices stay.
/// The prices are in seconds per byte, in falling order. Any other node stays only if it is faster than the previous
/// node by some factor. The search never loses a point that is best at one of the prices. The proof: at such a price,
/// the best point of a split consists of the best points of both parts, and the rows of the parts keep these points.
void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch);

}  // namespace sluice
