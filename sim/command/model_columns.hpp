// The columns of `sluice model`: one record a column, from which come the table, the CSV, the data
// island, the keys of the JSON and the help.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command/stage_table.hpp"
#include "document/value.hpp"

namespace sluice {

/// Numbers by axis, which people read as one where they agree.
struct ByAxis {
  Shape numbers;
};

/// Nothing, a count, milliseconds or a share, a word, or extents.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Shape, ByAxis>;

struct ModelColumn {
  std::string key;      ///< of the JSON, and for --columns
  std::string heading;  ///< of table, CSV and data island
  std::string summary;  ///< a phrase, with the unit
  Cell (*cell)(const TableRow&);
  bool of_platform = false;  ///< only where there is a platform
  bool words = false;        ///< aligned on the left
};

const std::vector<ModelColumn>& model_columns();

/// Those of a list "a,b,c", or "all" (without a platform, those that need none). Throws UsageError
/// naming what is unknown, given twice, or needs a platform.
std::vector<const ModelColumn*> columns_named(std::string_view list, bool with_platform);

std::string text_for_people(const Cell& cell);
std::string text_exactly(const Cell& cell);  ///< as in a CSV
Value json_of(const Cell& cell);
std::string json_text_of(const Cell& cell);  ///< a cell of a data island

}  // namespace sluice
