// CSV (RFC 4180) with the position of each cell. Empty lines are skipped. Lines that begin with # outside of a cell are
// skipped, too.
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

  /// Throws InputError with this message and the position of the cell.
  [[noreturn]] void fail(const CsvCell& cell, const std::string& message) const;
};

/// Reads a table. Throws InputError in five cases: a quote does not end, text follows a closing quote, there is no
/// heading, a name appears twice in the heading, or a row is longer or shorter than the heading.
CsvTable read_csv(std::shared_ptr<const Source> source);

}  // namespace sluice
