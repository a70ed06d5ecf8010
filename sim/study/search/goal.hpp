// The goal of a search is a number that should be as small or as large as possible. A search may also have limits,
// which other numbers must keep.
#pragma once

#include <string>
#include <vector>

#include "study/search/key.hpp"
#include "study/sweep/point_result.hpp"

namespace sluice {

/// A number that each point has: a metric, or the value of a varied key.
struct SearchNumber {
  std::string text;  ///< as given: "peak_bytes.gpu"
  std::string name;  ///< name of the metric's number, as in PointResult::number: "peak_bytes[gpu]"
  std::string unit;  ///< the unit of the metric, or of the key
  int key = -1;      ///< index of the key among the varied keys; -1 if the number is a metric

  bool is_key() const { return key >= 0; }
};

/// Parses a metric such as "makespan_s" or "peak_bytes.gpu", or one of the `keys` that are ranges. If a metric has
/// keys, the text behind the first dot is the key. Throws UsageError. Its message lists the possible numbers.
SearchNumber parse_search_number(const std::string& text, const std::vector<SearchKey>& keys);

struct SearchGoal {
  SearchNumber number;
  bool maximise = false;
};

/// A limit of a search: a number must be at most, or at least, a given value.
struct SearchLimit {
  std::string text;  ///< as given: "peak_bytes.gpu<=16GB"
  SearchNumber number;
  bool at_most = true;  ///< <=; otherwise >=
  double limit = 0;     ///< the limit, in the unit of the metric

  bool holds(double found) const { return at_most ? found <= limit : found >= limit; }
  /// Returns by how much the number `found` breaks the limit, as a share of the limit. If it keeps the limit, returns
  /// 0.
  double broken_by(double found) const;
};

/// Parses METRIC<=QUANTITY or METRIC>=QUANTITY. Throws UsageError.
SearchLimit parse_search_limit(const std::string& text);

}  // namespace sluice
