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
  std::vector<std::vector<CsvCell>> rows;  ///< each as wide as the heading

  /// Throws InputError at the cell.
  [[noreturn]] void fail(const CsvCell& cell, const std::string& message) const;
};

/// Reads a table. Throws InputError for a quote that does not end, or for text after a closing quote. Also throws it
/// for a row that is wider or narrower than the heading, for a missing heading, and for a name that the heading has
/// twice.
CsvTable read_csv(std::shared_ptr<const Source> source);

}  // namespace sluice
