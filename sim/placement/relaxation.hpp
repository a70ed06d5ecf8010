// Computes a proven lower bound of the seconds. Two things are changed. First, fast memory is unlimited, and
// has a price per byte and kernel. Second, each kernel's seconds are replaced by a line that never exceeds
// them. Then each tensor can choose its path independently of the others (best_path.hpp). Any prices and lines
// give a bound. The best prices and lines are the dual values of a linear programme (programme.hpp). If the
// linear programme is too large, a subgradient method finds prices and weighted means of each kernel's lines.
// The method is from Fisher, The Lagrangian relaxation method for solving integer programming problems (1981).
#pragma once

#include <vector>

#include "placement/best_path.hpp"

namespace sluice {

/// The search minimises `kernels` x seconds of kernels + `fetch` x seconds of fetches + `save` x seconds of saves.
struct PlacementWeights {
  double kernels = 1, fetch = 1, save = 1;
};

/// Prices replace the limit of fast memory. Lines replace the kernels' seconds.
struct PlacementPrices {
  std::vector<double> bytes;  ///< prices in seconds per byte, indexed by kernel
  /// For each kernel, a line that nowhere exceeds its seconds.
  std::vector<KernelTime::Line> below;
};

struct PlacementBound {
  double seconds = 0;          ///< a lower bound of the seconds of all placements
  std::vector<double> prices;  ///< prices in seconds per byte, indexed by kernel
  /// The weights of the kernels' lines, indexed by kernel.
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

/// Returns a lower bound: the seconds of kernels and moves, plus the price of the used bytes, minus the price of all
/// fast memory. Each tensor chooses its path independently. `chosen` receives these paths. Together, they may exceed
/// the capacity.
double bound_at(const BoundRequest& request, const PlacementPrices& prices, Placing& chosen);

/// Returns the cheapest path of one tensor. A pinned tensor stays in its memory.
PricedPath best_path_of(const PlacementQuestion& question, std::uint32_t t, bool moves,
                        const PathPrices& prices);

}  // namespace sluice
