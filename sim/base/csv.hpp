// Rows of CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// A cell: in quotes where it has to be.
std::string csv_cell(std::string_view text);

}  // namespace sluice
