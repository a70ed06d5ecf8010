// The best placement that is found at a capacity, and a bound below which there is none: prices of
// memory (relaxation.hpp), placements made from them (improve.hpp), and CBC where the question is
// small enough, or to go on where time is left (programme.hpp).
#pragma once

#include "placement/overlap.hpp"
#include "placement/programme.hpp"

namespace sluice {

struct OptimumRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  std::vector<Placing> known = {};  ///< placements that fit, of less memory or of less freedom
  double time_limit_s = 10;         ///< of CBC: what is found then depends on the machine
  std::size_t rounds = 3;           ///< of prices and search; fewer where the gap is small enough
  double near_enough = 3e-4;        ///< that gap, where the question is too large for CBC
  std::size_t iterations = 1800;    ///< of the prices
  std::size_t tries = 2000;         ///< of the search
  std::size_t largest_programme = 3000;  ///< whole variables that CBC is asked with
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
