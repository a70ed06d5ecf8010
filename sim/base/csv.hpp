// Rows of CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Returns the text as a cell of CSV, with quotes where necessary.
std::string csv_cell(std::string_view text);

}  // namespace sluice
