#include "command/table.hpp"

#include <algorithm>
#include <numeric>

#include "base/csv.hpp"
#include "command/terminal.hpp"

namespace sluice {

namespace {

constexpr std::size_t gap = 2;  ///< blanks between columns

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = columns_of(table.columns[c].heading);
    for (const auto& row : table.rows) width = std::max(width, columns_of(row[c]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(),
                         widths.empty() ? 0 : gap * (widths.size() - 1));
}

/// Returns one row of a table. The cells of the row may take several lines.
std::string row_text(const std::vector<std::string>& cells, const TextTable& table,
                     const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> parts;
  std::size_t height = 1;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const bool whole = shown_columns(cells[c]) <= widths[c];
    parts.push_back(whole ? std::vector{cells[c]} : broken(cells[c], widths[c]));
    height = std::max(height, parts.back().size());
  }
  std::string text;
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string part = l < parts[c].size() ? parts[c][l] : "";
      line +=
          (c == 0 ? "" : std::string(gap, ' ')) +
          (table.columns[c].right_aligned ? padded_left(part, widths[c]) : padded(part, widths[c]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string table_text(const TextTable& table, const std::vector<std::size_t>& widths) {
  std::vector<std::string> headings;
  for (const TextTable::Column& column : table.columns) headings.push_back(column.heading);
  std::string head = row_text(headings, table, widths);
  head.pop_back();  // Removes the line break, which must not be bold.
  std::string text = bold(head) + "\n";
  for (const auto& row : table.rows) text += row_text(row, table, widths);
  return text;
}

/// Returns the table with only the given columns.
TextTable part_of(const TextTable& table, const std::vector<std::size_t>& numbers) {
  TextTable part;
  for (const std::size_t c : numbers) part.columns.push_back(table.columns[c]);
  for (const auto& row : table.rows) {
    part.rows.emplace_back();
    for (const std::size_t c : numbers) part.rows.back().push_back(row[c]);
  }
  return part;
}

constexpr std::size_t narrow = 24;  ///< the least width, in characters, to which a text is wrapped

/// Returns the widths of the columns. If the last column has text, it gets at most the width that
/// the other columns leave.
std::vector<std::size_t> with_last_broken(const TextTable& table, std::vector<std::size_t> widths,
                                          std::size_t page) {
  const std::size_t before = sum_of(widths) - widths.back();
  if (!table.columns.back().right_aligned && before + narrow <= page)
    widths.back() = std::min(widths.back(), page - before);
  return widths;
}

}  // namespace

std::size_t TextTable::width() const {
  return sum_of(widths_of(*this));
}

void TextTable::drop_last() {
  columns.pop_back();
  for (auto& row : rows) row.pop_back();
}

std::string TextTable::aligned(std::size_t page) const {
  const std::vector<std::size_t> widths = widths_of(*this);
  if (page == 0 || sum_of(widths) <= page) return table_text(*this, widths);
  const std::vector<std::size_t> fitted = with_last_broken(*this, widths, page);
  if (sum_of(fitted) <= page) return table_text(*this, fitted);
  std::string text;
  for (std::size_t c = std::min(keys, columns.size()); c < columns.size();) {
    std::vector<std::size_t> numbers(std::min(keys, columns.size()));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::size_t taken = 0;
    for (const std::size_t k : numbers) taken += widths[k] + gap;
    do {
      numbers.push_back(c);
      taken += widths[c++] + gap;
    } while (c < columns.size() && taken + widths[c] <= page);
    const TextTable part = part_of(*this, numbers);
    text += (text.empty() ? "" : "\n") +
            table_text(part, with_last_broken(part, widths_of(part), page));
  }
  return text;
}

std::string rows_text(const LabelledRows& rows, const RowsForm& form) {
  std::size_t widest = form.label_columns;
  for (const auto& [label, text] : rows) widest = std::max(widest, shown_columns(label));
  const std::size_t begin = form.indent.size() + widest + gap;
  const std::size_t room = form.page > begin + narrow ? form.page - begin : 0;
  std::string lines;
  for (const auto& [label, text] : rows) {
    const std::string cell = padded(label, widest + gap);
    std::string head = form.indent + (form.bold_labels ? bold(cell) : cell);
    for (const std::string& part : broken(text, room)) {
      head += part;
      head.erase(head.find_last_not_of(' ') + 1);
      lines += head + "\n";
      head = std::string(begin, ' ');
    }
  }
  return form.page > 0 && room == 0 ? folded(lines, form.page) : lines;
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
