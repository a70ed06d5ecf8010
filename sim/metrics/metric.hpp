// A metric computes a number from the totals of an execution. In kinds/, each metric or group of similar metrics has
// one file. The file catalog.cpp lists all metrics.
#pragma once

#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "metrics/totals.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// A metric. The output of --json, the group /summary of a trace, and baselines use the name of a
/// metric as its key.
struct Metric {
  enum class Better { lower, higher, neither };
  std::string name;     ///< ends with the unit, unless the name implies the unit
  std::string unit;     ///< s, byte, J, FLOP, sample, or 1 (a ratio); empty if the value is a word
  std::string summary;  ///< the definition, in a few sentences
  std::string details = {};           ///< a paragraph about the meaning and the use of the metric
  std::string source = "definition";  ///< where the definition comes from
  /// A command whose answer has a value for this metric.
  std::string example = "sluice run alexnet_x200 --json";
  Better better = Better::neither;
  SummaryValue (*value)(const Totals& totals);
};

const Catalog<Metric>& metric_catalog();

/// Returns a value with these numbers, one for each link of the plan.
SummaryValue by_link(const Plan& plan, const std::vector<double>& numbers);
/// Returns a value with the numbers above 0 of these numbers, one for each tensor class.
SummaryValue by_class(const Totals::ByClass<double>& numbers);

/// Returns the values of all metrics, in the order of the catalog.
Summary summarise(const Totals& totals);

}  // namespace sluice
