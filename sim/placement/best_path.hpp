// The best path of one tensor at given prices for its time in fast memory: an exact dynamic
// programme over its uses. In each gap the tensor lies in slow memory, in fast memory with a copy
// in slow memory that is still valid, or in fast memory alone.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/placing.hpp"

namespace sluice {

/// The price where there is no room.
struct PathPrices {
  PlacementProblem::Begins begins = PlacementProblem::Begins::made;
  const std::vector<char>* written = nullptr;  ///< indexed by use
  std::vector<double> slow, fast;              ///< of each use
  std::vector<double> hold;                    ///< of each gap, in fast memory
  double fetch = 0, save = 0;
};

struct PricedPath {
  TensorPath path;
  double cost = 0;  ///< infinite: there is no path
};

PricedPath best_path(const PathPrices& prices);

/// The better of two paths: always in slow memory, or always in fast memory.
PricedPath best_constant_path(const PathPrices& prices);

}  // namespace sluice
