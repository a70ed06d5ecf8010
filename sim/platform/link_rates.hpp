// The rates of a link in each direction. The keys of the link apply to both directions. The keys of one direction
// replace the keys of the link. If host memory is pageable, the keys under `pageable` replace all these keys.
#pragma once

#include <optional>

#include "document/record.hpp"

namespace sluice {

struct LinkRates {
  struct Direction {
    double bandwidth = 0;  ///< bytes per second
    double setup_s = 0;
  };
  Direction down, up;
  struct DirectionRates {
    Direction down, up;
  };
  /// The rates of each direction for copies by the compute units.
  std::optional<DirectionRates> synchronous;
  std::optional<double> together;  ///< the bytes per second of both directions together
  double latency_s = 0;
};

/// Returns the record of a link.
const Record& link_record();

/// Returns the rates of a link. `link` reads the keys of the link, and `record` is the record of these keys. Throws
/// InputError for a half-duplex link with rates for one direction. Also throws InputError if memory is pageable but the
/// rates of copies of pageable memory are not given.
LinkRates rates_of(const Reader& link, const Record& record);

}  // namespace sluice
