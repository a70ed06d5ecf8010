// A search finds the point of a scenario at which one number has its best value and other numbers keep their limits.
// Each point is evaluated and stored like a point of a sweep.
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
  /// How many points run at the same time, if the search knows several points to evaluate.
  std::size_t jobs = 1;
  /// Runs the best point with both executors, and throws if the results of the executors differ.
  Measure by_both_executors = {};
  Store* store = nullptr;
  bool retry_failed = false;
  /// Reports progress in the caller's thread.
  std::function<void(std::size_t done, std::size_t most)> progress = {};
};

/// The merit of a point. A smaller merit is better. If two points keep all limits, the point with the smaller number is
/// better. If both points break limits, the point that breaks its limits by a smaller amount is better.
struct Merit {
  enum class LimitStatus {
    keeps,   ///< the point keeps all limits
    breaks,  ///< the point runs, but breaks a limit
    /// The point lacks the number of the goal, because the point does not fit or cannot be evaluated.
    refused,
  };
  LimitStatus status = LimitStatus::refused;
  /// If the point keeps all limits, this is the number of the goal, with its sign changed if the goal is maximised.
  /// Otherwise, this is the amount by which the point breaks limits, or the share of bytes that the point lacks.
  double number = 0;
  auto operator<=>(const Merit&) const = default;
};

struct SearchResult {
  Points points;      ///< the points that were evaluated, in the order of their evaluation
  SweepResult sweep;  ///< the results of these points
  std::vector<Merit> merits;
  /// Index of the best point in `points`; nullopt if no point keeps all limits.
  std::optional<std::size_t> best;
  /// A point that breaks a limit, and would otherwise be better than `best`. If there are several
  /// such points, this is the point that breaks its limit least.
  std::optional<std::size_t> beyond;
  std::size_t as_good = 0;  ///< number of other points that are as good as the best point
  bool all_asked = false;   ///< whether every combination was evaluated
  /// Whether every combination was evaluated and none failed. If so, no combination is better than the best
  /// point.
  bool exhaustive = false;
  bool used_up = false;  ///< whether the search ended because it had evaluated `most_points` points
};

/// Searches for the best point. Listed keys, and ranges of few whole numbers, are combined. For each combination, the
/// ranges of all other keys are searched in four steps: the corners of the ranges, DIRECT, Subplex from the best
/// points, and neighbouring whole numbers. Nothing is random. Throws UsageError when the number of combinations of the
/// lists exceeds the number of allowed points. Throws the exceptions of run_sweep.
SearchResult run_search(const SearchRequest& request);

/// Returns the number of the goal or of a limit at a point, or NaN if the point lacks this number.
double number_of(const SearchNumber& number, const SearchResult& result, std::size_t place);

}  // namespace sluice
