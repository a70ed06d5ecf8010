// A true lower bound: memory is not limited but costs a price per byte and kernel, and each
// kernel's seconds are replaced by a mean of the lines that lie below them. Then each tensor
// decides for itself (best_path.hpp). The prices are those that make the sum greatest, as far as a
// subgradient method finds them; whatever it finds is a bound. Source: Fisher, The Lagrangian
// relaxation method for solving integer programming problems (1981).
#pragma once

#include <vector>

#include "placement/best_path.hpp"

namespace sluice {

/// What is minimised: kernel_weight x seconds of kernels + fetch_weight x seconds of fetches + …
struct PlacementWeights {
  double kernels = 1, fetch = 1, save = 1;
};

struct PlacementBound {
  double seconds = 0;                       ///< no placement comes to less
  std::vector<double> prices;               ///< s per byte, by kernel
  std::vector<std::vector<double>> shares;  ///< of the lines, by kernel
  Placing placing;  ///< what the tensors choose at these prices; may be too much
};

struct BoundRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;  ///< false: each tensor stays where it is
  PlacementWeights weights = {};
  double known = 0;  ///< what some placement comes to
  std::size_t iterations = 600;
  const PlacementBound* from = nullptr;  ///< goes on from these prices
};

PlacementBound relax(const BoundRequest& request);

/// The path of least cost of one tensor, its pin obeyed.
PricedPath best_path_of(const PlacementQuestion& question, std::uint32_t t, bool moves,
                        const PathPrices& prices);

}  // namespace sluice
