// Finds the columns of `sluice model` that the user names, and formats their cells as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/layer_table/columns.hpp"

namespace sluice {

/// Returns the columns of a list "a,b,c", or of "all" (without a platform, those that need none). Throws UsageError for
/// a column that is unknown, is given twice, or needs a platform.
std::vector<const ModelColumn*> columns_named(std::string_view list, bool with_platform);

std::string text_for_people(const Cell& cell);
std::string text_exactly(const Cell& cell);  ///< with all digits, as in a CSV

}  // namespace sluice
