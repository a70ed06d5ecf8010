// Converts the metrics of a run to a document. Numbers have full precision. An absent number becomes null.
#pragma once

#include "document/value.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// Returns {name: value}. The values of a metric with keys are nested: {"peak_bytes": {"gpu": 1}}. An absent value is
/// null.
Value json_metrics(const Summary& summary);
/// Returns {name: unit}.
Value json_units(const Summary& summary);

}  // namespace sluice
