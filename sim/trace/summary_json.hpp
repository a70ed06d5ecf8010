// The metrics of a run as a document: numbers with full precision, null where there is none.
#pragma once

#include "document/value.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// {name: value}; a metric by key is nested: {"peak_bytes": {"gpu": 1}}. Absent: null.
Value json_metrics(const Summary& summary);
/// {name: unit}
Value json_units(const Summary& summary);

}  // namespace sluice
