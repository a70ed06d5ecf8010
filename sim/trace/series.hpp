// Quantities over time in equal bins, as plain data.
#pragma once

#include <string>
#include <vector>

namespace sluice {

struct SeriesTable {
  struct Series {
    std::string group;  ///< "utilisation", or empty: the series stands alone
    std::string name;   ///< within its group: the stream's name
    std::string unit;
    std::string summary;
    std::vector<double> values;  ///< one a bin
  };
  double width = 0;          ///< s, of a bin; the last may be shorter
  std::vector<double> time;  ///< s, the end of each bin
  std::vector<Series> series;
};

}  // namespace sluice
