// A search: the point of a scenario that is best in one number and keeps limits on others. Every
// point is asked, and kept, as a point of a sweep is.
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
  std::size_t most_points = 200;  ///< so many different points are asked at most
  std::size_t jobs = 1;           ///< points at once, where several are known at once
  Measure both = {};  ///< runs the best point by both executors, and throws where they differ
  Store* store = nullptr;
  bool retry_failed = false;
  /// Called in the thread of the caller.
  std::function<void(std::size_t done, std::size_t most)> progress = {};
};

/// How a point stands, best first. Of two that keep all limits, the less number is better; of
/// others, the one that is less wrong.
struct Merit {
  enum class Stand {
    keeps,    ///< all limits
    breaks,   ///< it runs, and breaks a limit
    refused,  ///< it has no such number: it does not fit, or cannot be asked
  };
  Stand stand = Stand::refused;
  double number = 0;  ///< keeps: of the goal, with its sign turned to maximise; else how wrong
  auto operator<=>(const Merit&) const = default;
};

struct SearchResult {
  Points points;      ///< those that were asked, in the order in which they were
  SweepResult sweep;  ///< what they came to
  std::vector<Merit> merits;
  std::optional<std::size_t> best;  ///< place in `points`; none: no point keeps all limits
  /// Of the points that run, break a limit, and would be better than `best`: the least wrong one.
  std::optional<std::size_t> beyond;
  std::size_t as_good = 0;  ///< further points with the same number as the best
  bool all_asked = false;   ///< every combination was asked
  bool exhaustive = false;  ///< so it was, and none failed: there is no better one
  bool used_up = false;     ///< it ended since `most_points` were asked
};

/// Listed keys, and whole numbers of which there are few, are tried one with each; for each
/// combination the remaining ranges are searched: their corners, then DIRECT, then Subplex from the
/// best places, then whole numbers one by one. There is nothing random in it. Throws UsageError
/// where the lists have more combinations than points are allowed, and what run_sweep throws.
SearchResult run_search(const SearchRequest& request);

/// The number of the goal or of a limit at a point; not a number where there is none.
double number_of(const SearchNumber& number, const SearchResult& result, std::size_t place);

}  // namespace sluice
