// Finds the best placement at a capacity, and a lower bound of the seconds of all placements. The search has three
// parts:
// - a linear programme (programme.hpp), or only prices of memory if the programme is too large (relaxation.hpp);
// - placements that are made from the programme or the prices (improve.hpp);
// - branch and bound if the question is small.
// All parts end after fixed numbers of steps, so the same question has the same answer on every machine.
#pragma once

#include "placement/overlap.hpp"
#include "placement/programme.hpp"

namespace sluice {

struct OptimumRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  /// Placements that fit and were found for less memory or with less freedom.
  std::vector<Placing> known = {};
  std::size_t rounds = 3;  ///< most rounds of prices and search; a small gap ends the rounds early
  double near_enough = 3e-4;      ///< a gap that ends the search, unless the question is small
  std::size_t iterations = 1800;  ///< steps of the search for prices
  std::size_t tries = 2000;       ///< tries of the search
  std::size_t largest_relaxed = 20'000;  ///< most integer variables of a linear programme
  int relaxed_iterations = 100'000;      ///< most iterations of the simplex method
  std::size_t largest_searched = 3000;   ///< the most integer variables for branch and bound
  int nodes = 1000;                      ///< most nodes of branch and bound for a small question
  /// The most integer variables of a small question; larger questions get fewer nodes.
  std::size_t small = 300;
};

struct Optimum {
  Placing placing;
  double seconds = 0;  ///< with all moves synchronous
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

/// Returns the best placement with moves while kernels run. It compares the `known` placements, and the placements that
/// the search finds when moves cost less or nothing.
OverlappedOptimum overlapped_optimum(const OptimumRequest& request);

}  // namespace sluice
