// Computes a proven lower bound of the seconds, by two changes of the placement problem. First, fast memory
// is unlimited, but each byte has a price during each kernel. Second, a linear function (a KernelTime::Line)
// replaces the seconds of each kernel. The line never exceeds these seconds. After these changes, the best
// path of each tensor does not depend on the other tensors (best_path.hpp). Any prices and lines give a bound.
// The prices and lines with the highest bound come from the dual values of a linear programme (programme.hpp).
// If this programme is too large, a subgradient method finds good prices, and for each kernel a good weighted
// mean of its lines. The method is from Fisher, The Lagrangian relaxation method for solving integer
// programming problems (1981).
#pragma once

#include <vector>

#include "placement/best_path.hpp"

namespace sluice {

/// The weights of the sum that a search minimises. The sum is `kernels` x the seconds of kernels + `fetch` x the
/// seconds of fetches + `save` x the seconds of saves.
struct PlacementWeights {
  double kernels = 1, fetch = 1, save = 1;
};

/// What the placement problem has after its two changes. Fast memory has prices and no limit. Each kernel has a linear
/// function that takes the place of its seconds.
struct PlacementPrices {
  std::vector<double> bytes;  ///< prices in seconds per byte, indexed by kernel
  /// For each kernel, a line that nowhere exceeds the kernel's seconds.
  std::vector<KernelTime::Line> below;
};

struct PlacementBound {
  double seconds = 0;          ///< a lower bound of the seconds of all placements
  std::vector<double> prices;  ///< prices in seconds per byte, indexed by kernel
  /// The weights of each kernel's lines, indexed by kernel.
  std::vector<std::vector<double>> shares;
};

struct BoundRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;  ///< if false, each tensor stays in one memory
  PlacementWeights weights = {};
  double known = 0;  ///< the seconds of a placement that was found
  std::size_t iterations = 600;
  const PlacementBound* from = nullptr;  ///< the method continues from these prices
};

PlacementBound relax(const BoundRequest& request);

/// Returns a lower bound. It is the seconds of kernels and moves, plus the price of the used bytes, minus the price of
/// all bytes of fast memory. Each tensor has the path that is cheapest for it alone. `chosen` receives these paths.
/// Together, they may need more than the capacity.
double bound_at(const BoundRequest& request, const PlacementPrices& prices, Placing& chosen);

/// Returns the cheapest path of one tensor. The path of a pinned tensor stays in the tensor's memory.
PricedPath best_path_of(const PlacementQuestion& question, std::uint32_t t, bool moves,
                        const PathPrices& prices);

}  // namespace sluice
