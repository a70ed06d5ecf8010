// Tables of texts: aligned for a terminal, or as CSV (RFC 4180); and rows of a label and its text.
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

  /// So many of the first columns stand again before those that go below, where all are too wide.
  std::size_t keys = 1;

  /// Within the page, if there is one: text in the last column goes on below where it is too long,
  /// and columns that have no room stand below the others.
  std::string aligned(std::size_t page = page_width()) const;
  std::size_t width() const;  ///< of the aligned text's lines
  void drop_last();           ///< the last column
  std::string csv() const;
};

/// Columns by how they are aligned.
inline TextTable::Column left(std::string heading) {
  return {.heading = std::move(heading), .right_aligned = false};
}
inline TextTable::Column right(std::string heading) {
  return {.heading = std::move(heading), .right_aligned = true};
}

/// A label and its text.
using LabelledRows = std::vector<std::pair<std::string, std::string>>;

struct RowsForm {
  std::string indent = {};
  std::size_t label_columns = 0;    ///< at least so wide; wider where a label is
  std::size_t page = page_width();  ///< text goes on below from this column on; 0: never
  bool bold_labels = false;
};

/// Two columns without a heading, two blanks between them.
std::string rows_text(const LabelledRows& rows, const RowsForm& form = {});

}  // namespace sluice
