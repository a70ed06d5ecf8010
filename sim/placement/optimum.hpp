// Finds the best placement at a capacity, and a lower bound of all placements. Three parts do this:
// - a linear programme (programme.hpp), or only prices of memory if the programme is too large (relaxation.hpp);
// - placements that are made from either (improve.hpp);
// - branch and bound if the question is small.
// Everything ends after fixed counts, so the same question has the same answer on every machine.
#pragma once

#include "placement/overlap.hpp"
#include "placement/programme.hpp"

namespace sluice {

struct OptimumRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  /// Placements that fit, found for less memory or with less freedom.
  std::vector<Placing> known = {};
  std::size_t rounds = 3;         ///< rounds of prices and search; a small gap ends them
  double near_enough = 3e-4;      ///< the gap that is small enough, unless the question is small
  std::size_t iterations = 1800;  ///< steps of the search for prices
  std::size_t tries = 2000;       ///< tries of the search
  std::size_t largest_relaxed = 20'000;  ///< most integer variables of a linear programme
  int relaxed_iterations = 100'000;      ///< most iterations of the simplex method
  std::size_t largest_searched = 3000;   ///< the most integer variables for branch and bound
  int nodes = 1000;                      ///< most nodes for a small question
  /// The most integer variables of a small question; larger questions get fewer nodes.
  std::size_t small = 300;
};

struct Optimum {
  Placing placing;
  double seconds = 0;  ///< when all moves are synchronous
  double bound = 0;
  bool proven = false;
};

/// Returns the best placement without moves (static), or with synchronous moves. Throws Infeasible when the tensors
/// that are pinned to fast memory do not fit there.
Optimum optimum(const OptimumRequest& request);

struct OverlappedOptimum {
  PlacementSchedule schedule;
  double seconds = 0, bound = 0;
};

/// Returns the best placement with moves while kernels run. It first tries the `known` placements, and those that the
/// search finds when moves are made cheaper or free.
OverlappedOptimum overlapped_optimum(const OptimumRequest& request);

}  // namespace sluice
