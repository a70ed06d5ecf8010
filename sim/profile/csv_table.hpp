// CSV (RFC 4180) with the position of each cell. Empty lines, and lines that begin with # outside
// of a cell, are skipped.
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
  std::vector<std::vector<CsvCell>> rows;  ///< each row has as many cells as the heading

  /// Throws InputError with the position of the cell.
  [[noreturn]] void fail(const CsvCell& cell, const std::string& message) const;
};

/// Reads a table. Throws InputError for a quote that does not end, text after a closing quote, a row that is wider or
/// narrower than the heading, a missing heading, or a name that the heading has twice.
CsvTable read_csv(std::shared_ptr<const Source> source);

}  // namespace sluice
