// The columns of `sluice model`. Each column is one record. These records determine the columns of the table, of the
// CSV and of the data island (island.hpp), the keys of the JSON, and the help.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "document/value.hpp"
#include "study/layer_table/stage_table.hpp"

namespace sluice {

/// One number per axis. If the numbers of all axes are equal, a table shows the number only once.
struct ByAxis {
  Shape numbers;
};

/// What a cell may hold, in the order of the types: nothing, a count, a real number (milliseconds or a share), a word,
/// extents, or one number per axis.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Shape, ByAxis>;

struct ModelColumn {
  std::string key;      ///< key of the column in the JSON, and name of the column for --columns
  std::string heading;  ///< heading in the table, the CSV and the data island
  std::string summary;  ///< a phrase that says what the column has, with the unit
  Cell (*cell)(const TableRow&);
  bool of_platform = false;  ///< whether the column exists only if there is a platform
  bool words = false;        ///< whether the column has words, which are aligned to the left
};

const std::vector<ModelColumn>& model_columns();

Value json_of(const Cell& cell);

std::string joined(const Shape& extents);  ///< Returns extents as text, such as 224x224x3.

/// Combines several functions, one per type of a variant, into the one function that std::visit needs.
template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace sluice
