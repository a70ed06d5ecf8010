// The duration of a copy between two memories that is alone on its links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/platform.hpp"

namespace sluice {

/// A copy between host memory and the device, alone on its links.
struct CopyTime {
  double setup_s = 0, bandwidth = 0, latency_s = 0;
  /// It occupies the copy engine for this long; its data arrive `latency_s` later.
  double seconds(std::int64_t bytes) const {
    return setup_s + static_cast<double>(bytes) / bandwidth;
  }
};
/// Throws InputError when no links connect the two.
CopyTime copy_time(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode = CopyMode::asynchronous);

/// Byte per second of the narrowest of these channels; infinite where there are none.
double narrowest(const Platform& platform, const std::vector<std::uint32_t>& channels);

}  // namespace sluice
