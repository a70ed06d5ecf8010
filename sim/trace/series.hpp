// Quantities over time, as plain data. The time of the run is divided into equal bins, and each bin has one value.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sluice {

struct SeriesTable {
  struct Series {
    std::string name;
    std::string unit;
    std::string summary;
    std::vector<double> values;  ///< one per bin
  };
  double width = 0;          ///< seconds of a bin; the last bin may be shorter
  std::vector<double> time;  ///< the end of each bin, in seconds
  /// The share of each bin in which a stream is busy: first the bins of stream 0, then the bins of stream 1, and so on.
  /// Empty if utilisation was not recorded.
  std::vector<double> utilisation;
  std::vector<Series> series;

  /// Returns the `time.size()` bins of one stream. The result is empty if utilisation was not recorded.
  std::span<const double> utilisation_of(std::size_t stream) const {
    const std::size_t bins = time.size(), begin = stream * bins;
    if (begin + bins > utilisation.size()) return {};
    return std::span(utilisation).subspan(begin, bins);
  }
};

}  // namespace sluice
