// A search finds the point of a scenario that is best in one number and keeps limits of other
// numbers. Each point is evaluated and stored like a point of a sweep.
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
  std::size_t most_points = 200;  ///< the largest number of different points to ask
  std::size_t jobs = 1;           ///< points that run at the same time, if several are known
  /// Runs the best point by both executors, and throws if their results differ.
  Measure by_both_executors = {};
  Store* store = nullptr;
  bool retry_failed = false;
  /// Reports progress in the caller's thread.
  std::function<void(std::size_t done, std::size_t most)> progress = {};
};

/// The merit of a point. A smaller merit is better. If two points keep all limits, the point with the smaller number is
/// better. If both points break limits, the point that breaks them less is better.
struct Merit {
  enum class LimitStatus {
    keeps,    ///< it keeps all limits
    breaks,   ///< it runs, but breaks a limit
    refused,  ///< lacks the number of the goal: it does not fit, or cannot be evaluated
  };
  LimitStatus status = LimitStatus::refused;
  /// If the point keeps all limits, this is the goal, with its sign changed if the goal is maximised. Otherwise, this
  /// is the amount by which the point breaks limits.
  double number = 0;
  auto operator<=>(const Merit&) const = default;
};

struct SearchResult {
  Points points;      ///< the points that were evaluated, in order
  SweepResult sweep;  ///< their results
  std::vector<Merit> merits;
  std::optional<std::size_t> best;  ///< index in `points`; nullopt if no point keeps all limits
  /// A point that would be better than `best` if it did not break a limit. If there are several such points, this is
  /// the point that breaks its limit least.
  std::optional<std::size_t> beyond;
  std::size_t as_good = 0;  ///< number of other points that are as good as the best
  bool all_asked = false;   ///< every combination was evaluated
  /// Every combination was evaluated and none failed, so no point is better.
  bool exhaustive = false;
  bool used_up = false;  ///< the search ended because `most_points` were evaluated
};

/// Searches for the best point. Listed keys, and ranges of few whole numbers, are combined. For each combination the
/// remaining ranges are searched in four steps: their corners, DIRECT, Subplex from the best points, and neighbouring
/// whole numbers. Nothing is random. Throws UsageError when the lists have more combinations than the allowed points.
/// Throws the exceptions of run_sweep.
SearchResult run_search(const SearchRequest& request);

/// The number of the goal or of a limit at a point; NaN if there is none.
double number_of(const SearchNumber& number, const SearchResult& result, std::size_t place);

}  // namespace sluice
