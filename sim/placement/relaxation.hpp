// A true lower bound: memory is not limited but costs a price per byte and kernel, and each
// kernel's seconds are replaced by a line that lies below them. Then each tensor can choose its
// path by itself (best_path.hpp). The result is a bound for all prices and lines. The best ones are
// the dual values of a linear programme (programme.hpp) or, where that is too large, those that a
// subgradient method finds with means of the kernels' own lines. Source: Fisher, The Lagrangian
// relaxation method for solving integer programming problems (1981).
#pragma once

#include <vector>

#include "placement/best_path.hpp"

namespace sluice {

/// What is minimised: kernel_weight x seconds of kernels + fetch_weight x seconds of fetches + …
struct PlacementWeights {
  double kernels = 1, fetch = 1, save = 1;
};

/// Takes the place of the limits.
struct PlacementPrices {
  std::vector<double> bytes;            ///< s per byte, by kernel
  std::vector<KernelTime::Line> below;  ///< per kernel: nowhere above its seconds
};

struct PlacementBound {
  double seconds = 0;                       ///< no placement takes less
  std::vector<double> prices;               ///< s per byte, by kernel
  std::vector<std::vector<double>> shares;  ///< of the lines, by kernel
};

struct BoundRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;  ///< false: each tensor stays where it is
  PlacementWeights weights = {};
  double known = 0;  ///< the seconds of some placement
  std::size_t iterations = 600;
  const PlacementBound* from = nullptr;  ///< the method continues from these prices
};

PlacementBound relax(const BoundRequest& request);

/// The seconds of everything at these prices when each tensor chooses for itself: a bound.
/// `chosen`: where the tensors lie then, which may exceed the memory.
double bound_at(const BoundRequest& request, const PlacementPrices& prices, Placing& chosen);

/// The path of least cost of one tensor; it obeys the tensor's pin.
PricedPath best_path_of(const PlacementQuestion& question, std::uint32_t t, bool moves,
                        const PathPrices& prices);

}  // namespace sluice
