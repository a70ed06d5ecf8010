// A search finds the best point of a scenario. At this point, one number has its best value, and other numbers keep
// their limits. Each point is evaluated and stored like a point of a sweep.
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
  /// The most points that run at the same time. The search does not always know several points to evaluate.
  std::size_t jobs = 1;
  /// Runs the best point with both executors. Throws if their results differ.
  Measure by_both_executors = {};
  Store* store = nullptr;
  bool retry_failed = false;
  /// Reports progress in the caller's thread.
  std::function<void(std::size_t done, std::size_t most)> progress = {};
};

/// The merit of a point. A smaller merit is better. Of two points that keep all limits, the point with the smaller
/// number is better. Of two points that break limits, the point with the smaller break is better.
struct Merit {
  enum class LimitStatus {
    keeps,   ///< the point keeps all limits
    breaks,  ///< the point runs, but breaks a limit
    /// The point lacks the number of the goal, because the point does not fit or cannot be evaluated.
    refused,
  };
  LimitStatus status = LimitStatus::refused;
  /// If the point keeps all limits: the number of the goal. A number that is maximised has the opposite sign. If the
  /// point breaks limits: the amount by which it breaks them. If the point was refused: the share of bytes that it
  /// lacks.
  double number = 0;
  auto operator<=>(const Merit&) const = default;
};

struct SearchResult {
  Points points;      ///< the points that were evaluated, in the order of their evaluation
  SweepResult sweep;  ///< the results of these points
  std::vector<Merit> merits;
  /// Index of the best point in `points`. If no point keeps all limits, this is nullopt.
  std::optional<std::size_t> best;
  /// A point that breaks a limit, and would otherwise be better than `best`. Of several such points, this point breaks
  /// its limit least.
  std::optional<std::size_t> beyond;
  std::size_t as_good = 0;  ///< number of other points that are as good as the best point
  bool all_asked = false;   ///< whether every combination was evaluated
  /// Whether every combination was evaluated and none failed. No combination is then better than the best point.
  bool exhaustive = false;
  bool used_up = false;  ///< whether the search ended because it had evaluated `most_points` points
};

/// Searches for the best point. Listed keys, and ranges of few whole numbers, are combined. For each combination, the
/// ranges of all other keys are searched in four steps. The steps are the corners of the ranges, DIRECT, Subplex from
/// the best points, and neighbouring whole numbers. Nothing is random. If the lists have more combinations than there
/// are allowed points, throws UsageError. Throws the exceptions of run_sweep.
SearchResult run_search(const SearchRequest& request);

/// Returns the number of the goal or of a limit at a point. If the point lacks this number, returns NaN.
double number_of(const SearchNumber& number, const SearchResult& result, std::size_t place);

}  // namespace sluice
