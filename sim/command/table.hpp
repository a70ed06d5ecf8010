// A table of texts: aligned for a terminal, or as CSV (RFC 4180).
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct TextTable {
  struct Column {
    std::string heading;
    bool right_aligned = true;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;

  std::string aligned() const;
  std::size_t width() const;  ///< of the aligned text's lines
  void drop_last();           ///< the last column
  std::string csv() const;
};

}  // namespace sluice
