// The best placement that is found at a capacity, and a bound below which there is none: a linear
// programme (programme.hpp), or prices of memory alone where it is too large (relaxation.hpp),
// placements made from either (improve.hpp), and branch and bound where the question is small. All
// ends by counts, so that the same question has the same answer on every machine.
#pragma once

#include "placement/overlap.hpp"
#include "placement/programme.hpp"

namespace sluice {

struct OptimumRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  std::vector<Placing> known = {};  ///< placements that fit, of less memory or of less freedom
  std::size_t rounds = 3;           ///< of prices and search; fewer where the gap is small enough
  double near_enough = 3e-4;        ///< that gap, where the question is not small
  std::size_t iterations = 1800;    ///< of the prices
  std::size_t tries = 2000;         ///< of the search
  std::size_t largest_relaxed = 20'000;  ///< whole variables of a linear programme
  int relaxed_iterations = 100'000;      ///< of the simplex method
  std::size_t largest_searched = 3000;   ///< whole variables of a branch and bound
  int nodes = 1000;                      ///< of it, while the question is small
  std::size_t small = 300;  ///< whole variables up to which a question is; of more, fewer nodes
};

struct Optimum {
  Placing placing;
  double seconds = 0;  ///< all moves synchronous
  double bound = 0;
  bool proven = false;
};

/// Static (no moves), or with synchronous moves. Throws Infeasible: what is pinned to fast memory
/// does not fit.
Optimum optimum(const OptimumRequest& request);

struct OverlappedOptimum {
  PlacementSchedule schedule;
  double seconds = 0, bound = 0;
};

/// With moves beside the kernels. `known` placements are tried first, and those that the search
/// finds while moves cost less or nothing.
OverlappedOptimum overlapped_optimum(const OptimumRequest& request);

}  // namespace sluice
