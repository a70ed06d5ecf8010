// Finds the columns of `sluice model` that the user names. Formats their cells as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/layer_table/columns.hpp"

namespace sluice {

/// Returns the columns of a list "a,b,c", or of "all". Without a platform, "all" means the columns that need no
/// platform. Throws UsageError if a column is unknown or appears twice. Also throws it if a column needs a platform and
/// there is none.
std::vector<const ModelColumn*> columns_named(std::string_view list, bool with_platform);

std::string text_for_people(const Cell& cell);
std::string text_exactly(const Cell& cell);  ///< returns numbers with all digits, as in a CSV

}  // namespace sluice
