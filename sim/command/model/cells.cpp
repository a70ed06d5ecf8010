#include "command/model/cells.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "base/split.hpp"
#include "base/suggest.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::string once_where_equal(const Shape& numbers) {
  for (const std::int64_t number : numbers)
    if (number != numbers.front()) return joined(numbers);
  return grouped(numbers.front());
}

const ModelColumn& column_named(const std::string& word, bool with_platform) {
  std::vector<std::string> known;
  for (const ModelColumn& column : model_columns()) {
    if (column.key == word) {
      if (column.of_platform && !with_platform)
        throw UsageError("'" + word + "' for '--columns' needs a platform: add --platform");
      return column;
    }
    known.push_back(column.key);
  }
  throw UsageError("'" + word + "' for '--columns' is not a column" + did_you_mean(word, known) +
                   "; known: all, " + join(known));
}

}  // namespace

std::vector<const ModelColumn*> columns_named(std::string_view list, bool with_platform) {
  std::vector<const ModelColumn*> columns;
  if (list == "all") {
    for (const ModelColumn& column : model_columns())
      if (with_platform || !column.of_platform) columns.push_back(&column);
    return columns;
  }
  for (const std::string_view name : split(list, ",")) {
    columns.push_back(&column_named(std::string(name), with_platform));
    for (std::size_t i = 0; i + 1 < columns.size(); ++i)
      if (columns[i] == columns.back())
        throw UsageError("'" + columns.back()->key +
                         "' for '--columns' is given twice; give each column only once");
  }
  return columns;
}

std::string text_for_people(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return std::string("-"); },
                               [](std::int64_t count) { return grouped(count); },
                               [](double number) { return milliseconds(number / 1e3); },
                               [](const std::string& word) { return printable(word); },
                               [](const Shape& shape) { return joined(shape); },
                               [](const ByAxis& axes) { return once_where_equal(axes.numbers); }},
                    cell);
}

std::string text_exactly(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](std::int64_t count) { return std::to_string(count); },
                               [](double number) { return exact(number); },
                               [](const std::string& word) { return printable(word); },
                               [](const Shape& shape) { return joined(shape); },
                               [](const ByAxis& axes) { return joined(axes.numbers); }},
                    cell);
}

}  // namespace sluice
