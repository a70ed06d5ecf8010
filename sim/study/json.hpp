// Values for --json: numbers with full precision, null where there is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "document/record.hpp"
#include "document/value.hpp"
#include "trace/summary.hpp"

namespace sluice {

/// null where the number is not finite; an integer where it is a whole number of things.
Value json_number(double number);
Value json_count(double number);
Value json_text(std::string_view text);

/// {name: value}; a metric by key is nested: {"peak_bytes": {"gpu": 1}}. Absent: null.
Value json_metrics(const Summary& summary);
/// {name: unit}
Value json_units(const Summary& summary);

/// A record's field: name, type, unit, default, choices, help.
Value json_field(const Field& field);
/// "integer", "quantity in byte/s" … for people.
std::string type_words(const Field& field);

}  // namespace sluice
