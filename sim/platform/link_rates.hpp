// The rates of a link in each direction. The keys of the link are for both directions, unless keys of one direction
// (`down` or `up`) replace them. For copies of pageable host memory, keys under `pageable` replace the keys outside of
// `pageable`.
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
  /// The rates at which the compute units copy in each direction, if the link has rates of its own for that.
  std::optional<DirectionRates> synchronous;
  std::optional<double> together;  ///< the bytes per second of both directions together
  double latency_s = 0;
};

/// Returns the record of a link.
const Record& link_record();

/// Returns the rates of a link. `link` reads the keys of the link, and `record` is the record of these keys. Throws
/// InputError if a half-duplex link has rates for one direction, or the key `together`. Also throws InputError if host
/// memory is pageable, but the link has no rates for copies of pageable memory.
LinkRates rates_of(const Reader& link, const Record& record);

}  // namespace sluice
