// A search varies keys of a scenario, and finds the best point: of all points whose numbers keep the limits, the point
// whose goal has the best number. Each point is evaluated and stored like a point of a sweep.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/search/goal.hpp"
#include "study/search/key.hpp"
#include "study/sweep/sweep.hpp"

namespace sluice {

struct SearchRequest {
  const Variants& variants;
  std::vector<SearchKey> keys;
  SearchGoal goal;
  std::vector<SearchLimit> limits = {};
  /// The largest number of different points that the search may evaluate.
  std::size_t most_points = 200;
  /// The most points that run at the same time. Fewer points run if the search wants to evaluate fewer points next.
  std::size_t jobs = 1;
  /// Runs the best point with both executors, SimGrid and the replay. Throws an error if their results differ.
  Measure by_both_executors = {};
  Store* store = nullptr;
  bool retry_failed = false;
  /// This function is called in the caller's thread. `done` is the number of evaluated points, and `most` is
  /// `most_points`.
  std::function<void(std::size_t done, std::size_t most)> progress = {};
};

/// The merit of a point. A smaller merit is better. A point that keeps all limits is better than a point that breaks
/// limits, which is better than a refused point. Of two points with the same status, the point with the smaller
/// `number` is better.
struct Merit {
  enum class LimitStatus {
    keeps,   ///< the point keeps all limits
    breaks,  ///< the point runs, but breaks a limit
    /// The point does not fit, cannot be evaluated, or lacks the number of the goal or of a limit.
    refused,
  };
  LimitStatus status = LimitStatus::refused;
  /// For a point that keeps all limits, the number of the goal, or its negative if the goal is maximised. For a point
  /// that breaks limits, the amount by which it breaks them. For a refused point, the bytes that are missing, as a
  /// share of the available bytes.
  double number = 0;
  auto operator<=>(const Merit&) const = default;
};

struct SearchResult {
  Points points;      ///< the points that were evaluated, in the order of their evaluation
  SweepResult sweep;  ///< the results of these points
  std::vector<Merit> merits;
  /// The index of the best point in `points`. If no point keeps all limits, the value is nullopt.
  std::optional<std::size_t> best;
  /// The index of a point that would be better than `best` if it did not break a limit. Of several such points, it is
  /// the point that breaks its limits least.
  std::optional<std::size_t> beyond;
  std::size_t as_good = 0;  ///< number of other points that are as good as the best point
  bool all_asked = false;   ///< whether every combination was evaluated
  /// Whether every combination was evaluated and none failed. Only then is it certain that no combination is better
  /// than the best point.
  bool exhaustive = false;
  bool used_up = false;  ///< whether the search ended because it had evaluated `most_points` points
};

/// Searches for the best point. Some keys have a list of values, or a range of few whole numbers. The search goes
/// through all combinations of these values. For each combination, the ranges of all other keys are searched in four
/// steps: first the corners of the ranges, then DIRECT, then Subplex from the best points, then neighbouring whole
/// numbers. Nothing is random. If there are too few points for all combinations of the lists, throws UsageError. Throws
/// the exceptions of run_sweep.
SearchResult run_search(const SearchRequest& request);

/// Returns the value of the metric or key that `number` names, at the point with the index `place`. If the point lacks
/// this number, returns NaN.
double number_of(const SearchNumber& number, const SearchResult& result, std::size_t place);

}  // namespace sluice
