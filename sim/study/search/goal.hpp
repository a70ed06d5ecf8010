// What a search wants: a number that should be small or large, and limits of others.
#pragma once

#include <string>
#include <vector>

#include "study/search/key.hpp"
#include "study/sweep/point_result.hpp"

namespace sluice {

/// A number of a point: of a metric, or the value of a key that is varied.
struct SearchNumber {
  std::string text;  ///< as given: "peak_bytes.gpu"
  std::string name;  ///< name of the metric's number, as in PointResult::number: "peak_bytes[gpu]"
  std::string unit;  ///< of the metric, or of the key
  int key = -1;      ///< index among the keys that are varied; -1: it is a metric

  bool is_key() const { return key >= 0; }
};

/// Parses "makespan_s", "peak_bytes.gpu" (after the first dot comes the metric's key), or one of
/// the `keys` that are ranges. Throws UsageError that lists what there is.
SearchNumber parse_search_number(const std::string& text, const std::vector<SearchKey>& keys);

struct SearchGoal {
  SearchNumber number;
  bool maximise = false;
};

/// A limit of a number.
struct SearchLimit {
  std::string text;  ///< as given: "peak_bytes.gpu<=16GB"
  SearchNumber number;
  bool at_most = true;  ///< <=; otherwise >=
  double limit = 0;     ///< in the unit of the metric

  bool holds(double found) const { return at_most ? found <= limit : found >= limit; }
  /// The share of the limit by which a number breaks it; 0: it keeps it.
  double broken_by(double found) const;
};

/// METRIC<=QUANTITY or METRIC>=QUANTITY. Throws UsageError.
SearchLimit parse_search_limit(const std::string& text);

}  // namespace sluice
