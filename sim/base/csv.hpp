// Rows of CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// A cell as CSV, in quotes where the text needs them.
std::string csv_cell(std::string_view text);

}  // namespace sluice
