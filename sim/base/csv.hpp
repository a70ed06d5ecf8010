// Rows of CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Returns the text as a cell of CSV, in quotes if the text needs them.
std::string csv_cell(std::string_view text);

}  // namespace sluice
