// The columns of `sluice model`: one record a column, from which come the table, the CSV, the data
// island, the keys of the JSON and the help.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "document/value.hpp"
#include "study/layer_table/stage_table.hpp"

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

Value json_of(const Cell& cell);

std::string joined(const Shape& extents);  ///< 224x224x3

/// Of several functions one, for std::visit.
template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace sluice
