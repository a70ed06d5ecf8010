// Finds the best placement at a capacity, and a lower bound of the seconds of all placements. The search has three
// parts:
// - a linear programme (programme.hpp); if it is too large, only prices of memory (relaxation.hpp);
// - placements that are made from the programme or the prices (improve.hpp);
// - branch and bound if the question is small.
// Each part ends after a fixed number of steps. So a question has the same answer on all machines.
#pragma once

#include "placement/overlap.hpp"
#include "placement/programme.hpp"

namespace sluice {

struct OptimumRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  /// Placements that fit, from searches with less memory or with fewer allowed moves.
  std::vector<Placing> known = {};
  /// The most rounds of prices and search. A small gap ends the rounds early.
  std::size_t rounds = 3;
  double near_enough = 3e-4;      ///< a gap that ends the search, unless the question is small
  std::size_t iterations = 1800;  ///< the number of steps of the search for prices
  std::size_t tries = 2000;       ///< the number of tries of the search for placements
  std::size_t largest_relaxed = 20'000;  ///< the most integer variables of a linear programme
  int relaxed_iterations = 100'000;      ///< the most iterations of the simplex method
  std::size_t largest_searched = 3000;   ///< the most integer variables for branch and bound
  /// The most nodes of branch and bound for a small question.
  int nodes = 1000;
  /// The most integer variables of a small question. A larger question gets fewer nodes of branch and bound.
  std::size_t small = 300;
};

struct Optimum {
  Placing placing;
  double seconds = 0;  ///< the seconds if all moves are synchronous
  double bound = 0;
  bool proven = false;
};

/// Returns the best placement without moves (static), or with synchronous moves. Throws Infeasible if the tensors
/// that are pinned to fast memory exceed the capacity.
Optimum optimum(const OptimumRequest& request);

struct OverlappedOptimum {
  PlacementSchedule schedule;
  double seconds = 0, bound = 0;
};

/// Returns the best placement with moves while kernels run. The function compares the `known` placements and the
/// results of several searches. These searches count only a part of the seconds of a move.
OverlappedOptimum overlapped_optimum(const OptimumRequest& request);

}  // namespace sluice
