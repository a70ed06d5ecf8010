#include "command/table.hpp"

#include <algorithm>
#include <numeric>

#include "base/csv.hpp"
#include "command/terminal.hpp"

namespace sluice {

namespace {

constexpr std::size_t gap = 2;  ///< blanks between columns

/// `text` behind `begin`; what would pass the page goes on below, as far to the right.
std::string wrapped(std::string begin, std::size_t columns, const std::string& text,
                    std::size_t page) {
  std::string lines;
  std::size_t at = 0;
  while (page > 0 && text.size() - at + columns > page) {
    const std::size_t blank = text.rfind(' ', at + page - columns);
    if (blank == std::string::npos || blank <= at) break;
    lines += begin + text.substr(at, blank - at) + "\n";
    begin = std::string(columns, ' ');
    at = blank + 1;
  }
  return lines + begin + text.substr(at) + "\n";
}

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = columns_of(table.columns[c].heading);
    for (const auto& row : table.rows) width = std::max(width, columns_of(row[c]));
    widths.push_back(width);
  }
  return widths;
}

}  // namespace

std::size_t TextTable::width() const {
  const std::vector<std::size_t> widths = widths_of(*this);
  return std::accumulate(widths.begin(), widths.end(),
                         widths.empty() ? 0 : gap * (widths.size() - 1));
}

void TextTable::drop_last() {
  columns.pop_back();
  for (auto& row : rows) row.pop_back();
}

std::string TextTable::aligned() const {
  const std::vector<std::size_t> widths = widths_of(*this);
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c)
      text += (c == 0 ? "" : std::string(gap, ' ')) +
              padded(cell_of(c), widths[c], columns[c].right_aligned);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = bold(line([&](std::size_t c) { return columns[c].heading; })) + "\n";
  for (const auto& row : rows) text += line([&](std::size_t c) { return row[c]; }) + "\n";
  return text;
}

std::string rows_text(const LabelledRows& rows, const RowsForm& form) {
  std::size_t widest = form.label_columns;
  for (const auto& [label, text] : rows) widest = std::max(widest, columns_of(label));
  const std::size_t columns = form.indent.size() + widest + gap;
  std::string lines;
  for (const auto& [label, text] : rows) {
    const std::string cell = padded(label, widest + gap);
    lines +=
        wrapped(form.indent + (form.bold_labels ? bold(cell) : cell), columns, text, form.page);
  }
  return lines;
}

std::string TextTable::csv() const {
  std::string text;
  for (std::size_t c = 0; c < columns.size(); ++c)
    text += (c == 0 ? "" : ",") + csv_cell(columns[c].heading);
  text += "\r\n";
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + csv_cell(row[c]);
    text += "\r\n";
  }
  return text;
}

}  // namespace sluice
