// The rates of a link in each direction: what the link says of both, over it what it says of one,
// and over those what it says of copies of pageable memory, where its copies are such.
#pragma once

#include <optional>

#include "document/record.hpp"

namespace sluice {

struct LinkRates {
  struct Direction {
    double bandwidth = 0;  ///< byte/s
    double setup_s = 0;
  };
  Direction down, up;
  struct Both {
    Direction down, up;
  };
  std::optional<Both> synchronous;  ///< of copies by the compute units
  std::optional<double> together;   ///< byte/s of both
  double latency_s = 0;
};

/// The record of a link.
const Record& link_record();

/// `record`: of a link. Throws InputError: a half-duplex link with directions of its own, or copies
/// of pageable memory whose rates are not given.
LinkRates rates_of(const Reader& link, const Record& record);

}  // namespace sluice
