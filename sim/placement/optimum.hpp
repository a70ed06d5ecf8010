// Finds the best placement for a fast memory with a given capacity, and a lower bound of the seconds of all placements.
// The search has three parts:
// - a linear programme (programme.hpp), or only prices of fast memory (relaxation.hpp) if the programme is too large;
// - placements that are made with the help of the programme's result or of the prices (improve.hpp);
// - branch and bound if the question is small.
// Each part ends after a fixed number of steps, however long they take. So a question has the same answer on all
// machines.
#pragma once

#include <functional>
#include <optional>

#include "placement/overlap.hpp"
#include "placement/programme.hpp"

namespace sluice {

struct OptimumRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  bool moves = true;
  /// Placements that are known to fit: results for less memory, or of methods with less freedom, such as a search
  /// without moves.
  std::vector<Placing> known = {};
  /// The largest number of rounds. In a round, a search for prices is followed by a search for placements. The rounds
  /// end early if the gap between the best placement and the bound is small.
  std::size_t rounds = 3;
  double near_enough = 3e-4;      ///< a gap that ends the search, unless the question is small
  std::size_t iterations = 1800;  ///< the number of steps of the search for prices
  std::size_t tries = 2000;       ///< the number of tries of the search for placements
  std::size_t largest_relaxed = 20'000;  ///< the most integer variables of a linear programme
  int relaxed_iterations = 100'000;      ///< the most iterations of the simplex method
  std::size_t largest_searched = 3000;   ///< the most integer variables for branch and bound
  /// The largest number of nodes of branch and bound for a small question.
  int nodes = 1000;
  /// A question is small if it has at most this many integer variables. Branch and bound gets fewer nodes for a larger
  /// question.
  std::size_t small = 300;
  /// Only for overlapped_optimum(): whether a placement is useless if its rounds take at least `round_s` seconds on
  /// average (OverlappedOptimum::round_bound). If all placements are useless, the search ends early. If the function is
  /// null, no placement is useless.
  std::function<bool(double round_s)> useless = {};
};

struct Optimum {
  Placing placing;
  double seconds = 0;  ///< the seconds if all moves are synchronous
  double bound = 0;
  bool proven = false;
};

/// Returns the best placement with synchronous moves, or without moves if `moves` is false. Throws Infeasible if the
/// tensors that are pinned to fast memory exceed the capacity, or if no placement is found for which slow memory has
/// room.
Optimum optimum(const OptimumRequest& request);

struct OverlappedOptimum {
  PlacementSchedule schedule;
  /// If it is another schedule: the best one whose placement was chosen as if moves stopped the kernels. If kernels
  /// read slow memory over the link of the copy engine, a simulation may find it faster than `schedule`: the search
  /// does not count that they share the link.
  std::optional<PlacementSchedule> other;
  double seconds = 0, bound = 0;
  /// A lower bound of the mean seconds of a round, if a run has several rounds. Moves of a round may then go on during
  /// the next round, and moves to fast memory may run beside moves to slow memory.
  double round_bound = 0;
};

/// Returns the best schedule in which the copy engine may move tensors while kernels run. The function compares
/// schedules for the `known` placements and for the results of several searches. The searches differ in the weight that
/// they give to the seconds of moves (PlacementWeights).
OverlappedOptimum overlapped_optimum(const OptimumRequest& request);

}  // namespace sluice
