// A proven lower bound of the seconds. Memory is unlimited but has a price per byte and kernel, and each
// kernel's seconds are replaced by a line below them. Then each tensor can choose its path independently
// (best_path.hpp). Any prices and lines give a bound. The best ones are the dual values of a linear programme
// (programme.hpp). If that programme is too large, a subgradient method finds prices, with means of the kernels'
// own lines. The method is from Fisher, The Lagrangian relaxation method for solving integer programming
// problems (1981).
#pragma once

#include <vector>

#include "placement/best_path.hpp"

namespace sluice {

/// What is minimised: kernel_weight x seconds of kernels + fetch_weight x seconds of fetches + …
struct PlacementWeights {
  double kernels = 1, fetch = 1, save = 1;
};

/// The prices that replace the limits.
struct PlacementPrices {
  std::vector<double> bytes;            ///< seconds per byte, indexed by kernel
  std::vector<KernelTime::Line> below;  ///< per kernel: a line nowhere above its seconds
};

struct PlacementBound {
  double seconds = 0;                       ///< no placement takes less
  std::vector<double> prices;               ///< seconds per byte, indexed by kernel
  std::vector<std::vector<double>> shares;  ///< weights of the lines, per kernel
};

struct BoundRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;  ///< false: each tensor stays in one memory
  PlacementWeights weights = {};
  double known = 0;  ///< the seconds of some placement
  std::size_t iterations = 600;
  const PlacementBound* from = nullptr;  ///< the method continues from these prices
};

PlacementBound relax(const BoundRequest& request);

/// A lower bound: the seconds of kernels and moves, plus the price of the used bytes, minus the price of all fast
/// memory. Each tensor chooses its own path. `chosen`: these paths, which may exceed the memory.
double bound_at(const BoundRequest& request, const PlacementPrices& prices, Placing& chosen);

/// The cheapest path of one tensor; it respects the tensor's pin.
PricedPath best_path_of(const PlacementQuestion& question, std::uint32_t t, bool moves,
                        const PathPrices& prices);

}  // namespace sluice
