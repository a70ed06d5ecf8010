// CSV (RFC 4180) whose cells know where they stand. Lines that begin with # outside of a cell, and
// empty ones, are left out.
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

/// Throws InputError: a quote that does not end, text after one, a row that is wider or narrower
/// than the heading, no heading, a name twice in it.
CsvTable read_csv(std::shared_ptr<const Source> source);

}  // namespace sluice
