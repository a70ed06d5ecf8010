// The duration of a copy between two memories when nothing else uses its links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/platform.hpp"

namespace sluice {

/// A copy between host memory and the device if nothing else uses its links.
struct CopyTime {
  double setup_s = 0, bandwidth = 0, latency_s = 0;
  /// The seconds for which the copy occupies the copy engine. The data arrive `latency_s` later.
  double seconds(std::int64_t bytes) const {
    return setup_s + static_cast<double>(bytes) / bandwidth;
  }
};
/// Throws InputError when no links connect the two memories.
CopyTime copy_time(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode = CopyMode::asynchronous);

/// Returns the bytes per second of the slowest of these channels, or infinity if the list is empty.
double narrowest(const Platform& platform, const std::vector<std::uint32_t>& channels);

}  // namespace sluice
