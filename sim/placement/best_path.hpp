// Finds the best path of one tensor: the memories in which the tensor is at its uses, and in the gaps between them.
// Each use and each gap has a price, and the best path has the lowest sum of prices. A dynamic programme goes through
// the uses and finds this path exactly. In a gap, the tensor is only in slow memory, only in fast memory, or in both.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/placing.hpp"

namespace sluice {

/// The prices of the uses and gaps of one tensor. If fast memory has no room for the tensor at a use or in a gap, the
/// price there is infinite.
struct PathPrices {
  PlacementProblem::Begins begins = PlacementProblem::Begins::made;
  bool from_slow = false;                      ///< PlacementProblem::Moves::from_slow
  const std::vector<char>* written = nullptr;  ///< indexed by use
  std::vector<double> slow, fast;              ///< the prices of each use in the two memories
  std::vector<double> hold;                    ///< the price of each gap in fast memory
  /// The prices of a fetch at the end of each gap, and of a save at its beginning.
  std::vector<double> fetch, save;
};

struct PricedPath {
  TensorPath path;
  double cost = 0;  ///< the sum of the prices of the path; infinite if there is no path
};

PricedPath best_path(const PathPrices& prices);

/// Returns the cheaper of two paths. In one path, the tensor is always in slow memory. In the other path, the tensor is
/// always in fast memory.
PricedPath best_constant_path(const PathPrices& prices);

}  // namespace sluice
