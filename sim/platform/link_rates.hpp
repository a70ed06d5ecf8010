// The rates of a link in each direction. A direction takes what the link says of both directions,
// overridden by what it says of this one. Where host memory is pageable, what the link says of
// pageable copies overrides both.
#pragma once

#include <optional>

#include "document/record.hpp"

namespace sluice {

struct LinkRates {
  struct Direction {
    double bandwidth = 0;  ///< byte per second
    double setup_s = 0;
  };
  Direction down, up;
  struct Both {
    Direction down, up;
  };
  std::optional<Both> synchronous;  ///< rates of copies by the compute units
  std::optional<double> together;   ///< byte per second of both directions together
  double latency_s = 0;
};

/// The record of a link.
const Record& link_record();

/// `record` is the record of a link. Throws InputError for a half-duplex link with directions of
/// its own, and for copies of pageable memory whose rates are not given.
LinkRates rates_of(const Reader& link, const Record& record);

}  // namespace sluice
