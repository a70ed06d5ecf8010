#include "study/layer_table/island.hpp"

#include "trace/export/text.hpp"

namespace sluice {
namespace {

using Columns = std::vector<const ModelColumn*>;
using Cells = std::vector<std::string>;  ///< JSON texts

std::string text_of(const Cell& cell) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("null"); },
                 [](std::int64_t count) { return std::to_string(count); },
                 [](double number) { return json_number_text(number); },
                 [](const std::string& word) { return json_string(word); },
                 [](const Shape& shape) { return json_string(joined(shape)); },
                 [](const ByAxis& axes) { return json_string(joined(axes.numbers)); }},
      cell);
}

/// Returns those columns that the table in the document 'AlexNet on one card' has. Adds the headings of that table to
/// `headings`.
Columns columns_of_document(Cells& headings) {
  Columns columns;
  const auto add = [&](const char* key, const char* heading) {
    for (const ModelColumn& column : model_columns())
      if (column.key == key) columns.push_back(&column);
    headings.push_back(json_string(heading));
  };
  add("step", "step");
  add("type", "action");
  add("state", "stage state");
  add("total_state", "total state");
  add("total_parameters", "total params");
  add("total_flop", "total FLOPs");
  return columns;
}

}  // namespace

std::string model_island(const Model& model, DType dtype, const Target* target, Columns columns) {
  std::vector<Cells> rows(1);
  for (const ModelColumn* column : columns) rows[0].push_back(json_string(column->heading));
  if (columns.empty()) columns = columns_of_document(rows[0]);
  for (const TableRow& row : stage_table(model, dtype, target)) {
    Cells& cells = rows.emplace_back();
    for (const ModelColumn* column : columns) cells.push_back(text_of(column->cell(row)));
  }
  return data_island(rows);
}

}  // namespace sluice
