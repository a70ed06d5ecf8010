// Metrics: an execution's totals -> a number. One file a metric or a small family under kinds/;
// catalog.cpp lists them.
#pragma once

#include <string>

#include "base/catalog.hpp"
#include "metrics/totals.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// A metric. Its name is its key in --json, in a trace's /summary and in baselines.
struct Metric {
  enum class Better { lower, higher, neither };
  std::string name;     ///< with the unit at its end where it is not plain
  std::string unit;     ///< s, byte, J, FLOP, sample, 1 (a ratio); empty: a word
  std::string summary;  ///< one sentence: the definition
  std::string source;   ///< where the definition comes from
  Better better = Better::neither;
  SummaryValue (*value)(const Totals& totals);
};

const Catalog<Metric>& metric_catalog();

/// All metrics, in the order of the catalog.
Summary summarise(const Totals& totals);

}  // namespace sluice
