// Formats tables of texts for a terminal or as CSV (RFC 4180), and rows with a label and a text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "command/page.hpp"

namespace sluice {

struct TextTable {
  struct Column {
    std::string heading;
    bool right_aligned = true;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;

  /// If the table is too wide, the last columns are put into further tables below it. Each of these tables repeats the
  /// first `keys` columns.
  std::size_t keys = 1;

  /// Returns the aligned table. If the page has a limited width, long text in the last column is wrapped. Columns that
  /// do not fit are put into further tables below the first table.
  std::string aligned(std::size_t page = page_width()) const;
  std::size_t width() const;  ///< returns the width of the aligned table in characters
  void drop_last();           ///< removes the last column
  std::string csv() const;
};

/// These functions return a column whose text is aligned to the left or to the right.
inline TextTable::Column left(std::string heading) {
  return {.heading = std::move(heading), .right_aligned = false};
}
inline TextTable::Column right(std::string heading) {
  return {.heading = std::move(heading), .right_aligned = true};
}

/// Rows, each with a label and a text.
using LabelledRows = std::vector<std::pair<std::string, std::string>>;

struct RowsForm {
  std::string indent = {};
  /// The least width of the column of labels. A longer label widens the column.
  std::size_t label_columns = 0;
  /// The column at which text is wrapped, or 0 for no limit.
  std::size_t page = page_width();
  bool bold_labels = false;
};

/// Returns two columns without headings, with two blanks between them.
std::string rows_text(const LabelledRows& rows, const RowsForm& form = {});

}  // namespace sluice
