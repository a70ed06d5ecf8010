// The numbers of a run, as plain data. The code of the metrics computes these numbers. A trace stores the numbers, and
// the commands print the numbers. The numbers are in the order of the metric catalog.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// The value of a metric is a number, a text, or a number for each key. For example, a key is the name of a link, or it
/// consists of the names of a pool and a tensor class.
struct SummaryValue {
  enum class Kind { number, text, keyed };
  struct Keyed {
    std::vector<std::string> key;
    double number = 0;
  };

  Kind kind = Kind::number;
  double number = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the number is absent
  std::string text;
  std::vector<Keyed> keyed;
  std::string absent;  ///< why there is no number

  static SummaryValue of(double number) {
    SummaryValue value;
    value.number = number;
    return value;
  }
  static SummaryValue of(std::string text) {
    SummaryValue value;
    value.kind = Kind::text;
    value.text = std::move(text);
    return value;
  }
  static SummaryValue of(std::vector<Keyed> keyed) {
    SummaryValue value;
    value.kind = Kind::keyed;
    value.keyed = std::move(keyed);
    return value;
  }
  static SummaryValue none(std::string reason) {
    SummaryValue value;
    value.absent = std::move(reason);
    return value;
  }
};

struct Summary {
  struct Metric {
    std::string name;     ///< such as makespan_s
    std::string unit;     ///< s, byte, J, FLOP, sample, 1 (for a ratio), or empty for a text
    std::string summary;  ///< a few sentences
    SummaryValue value;
  };
  std::vector<Metric> metrics;

  const Metric* find(const std::string& name) const {
    for (const Metric& metric : metrics)
      if (metric.name == name) return &metric;
    return nullptr;
  }
  /// Returns the number of a metric. Returns NaN if the metric does not exist, is absent, or is not a number.
  double number(const std::string& name) const {
    const Metric* metric = find(name);
    const bool is_number = metric && metric->value.kind == SummaryValue::Kind::number;
    return is_number ? metric->value.number : std::numeric_limits<double>::quiet_NaN();
  }
  /// Returns the number of a metric for one key. Returns NaN if there is no such number.
  double number(const std::string& name, const std::vector<std::string>& key) const {
    if (const Metric* metric = find(name))
      for (const SummaryValue::Keyed& keyed : metric->value.keyed)
        if (keyed.key == key) return keyed.number;
    return std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace sluice
