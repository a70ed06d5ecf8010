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
  /// The boundary at which the segment splits. The number is 0 if the segment does not split, because its first stage
  /// keeps its inner tensors.
  std::uint16_t split = 0;
  bool boundary_goes = false, inner_goes = false, keeps = false;
  /// If the segment splits, the indices of the nodes of its two parts. Each index counts in the row of its part.
  std::uint32_t first = 0, second = 0;
};

/// A row of nodes. Peaks rise and seconds fall along the row.
using ParetoNodes = std::vector<ParetoNode>;

/// Returns whether `seconds` are less than `than`, by more than the rounding error of the sums.
inline bool is_faster(double seconds, double than) {
  return seconds < than * (1 - 1e-12);
}

/// The ways to execute a segment that splits into two parts. Any point of the row `first` is combined with any point of
/// the row `second`. While the first part runs, the device also holds `held` bytes.
struct ParetoSplit {
  const ParetoNodes& first;
  std::int64_t held;
  const ParetoNodes& second;
};

/// A pair has one point of each part of a split. The peak of a pair is at least `node.peak`, and its seconds include
/// `node.seconds`. Adds to `added` each pair that is faster than all `known` points without a greater peak.
void join(ParetoNode node, const ParetoSplit& split, const ParetoNodes& known, ParetoNodes& added);

/// Merges the best points of both rows into `nodes`. Parameter `scratch` provides memory from earlier calls, to avoid
/// allocations.
void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch);

/// Reduces the row to about `cap` nodes. The first node, the last node, and the best node at each of the prices stay.
/// The prices are in seconds per byte, and fall. Any other node stays only if it is faster than the previous node by
/// some factor. Thinning loses no point that is best at one of the prices. The proof: at such a price, the best point
/// of a split consists of the best points of both parts. The rows of the parts keep these points.
void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch);

}  // namespace sluice
