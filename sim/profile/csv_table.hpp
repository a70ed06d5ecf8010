// Reads CSV (RFC 4180), with the position of each cell. Two kinds of lines are skipped: empty lines, and lines that
// begin with #, unless they are inside a cell.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "document/value.hpp"

namespace sluice {

struct CsvCell {
  std::string text;
  int line = 0, column = 0;
};

struct CsvTable {
  std::shared_ptr<const Source> source;
  std::vector<CsvCell> heading;
  std::vector<std::vector<CsvCell>> rows;  ///< each row has one cell per column of the heading

  /// Throws InputError with this message, at the position of the cell.
  [[noreturn]] void fail(const CsvCell& cell, const std::string& message) const;
};

/// Reads a table. Throws InputError in five cases: a quote is not closed, text follows a closing quote, there is no
/// heading, the heading has a name twice, or a row has more or fewer cells than the heading.
CsvTable read_csv(std::shared_ptr<const Source> source);

}  // namespace sluice
