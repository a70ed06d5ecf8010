// Computes how long a copy from one memory of a platform to another memory takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/platform.hpp"

namespace sluice {

/// The time of a copy between two memories, if no other transfer uses the links of the copy.
struct CopyTime {
  double setup_s = 0, bandwidth = 0, latency_s = 0;
  /// Returns the seconds for which a copy of `bytes` bytes occupies the copy engine. The data arrive `latency_s`
  /// seconds later.
  double seconds(std::int64_t bytes) const {
    return setup_s + static_cast<double>(bytes) / bandwidth;
  }
};
/// Returns the time of a copy from `from` to `to`. Throws InputError if no links connect the two memories.
CopyTime copy_time(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode = CopyMode::asynchronous);

/// If transfers share a link, the times of the two executors agree to 1e-9 of the makespan
/// (execute/arithmetic/replay.hpp). A bound that is multiplied by this factor is not above the seconds of either
/// executor.
inline constexpr double within_accuracy = 1 - 2e-9;

/// Returns the bandwidth of the slowest channel, in bytes per second. Returns infinity if the list is empty.
double narrowest(const Platform& platform, const std::vector<std::uint32_t>& channels);

/// Returns the channels that both paths use, in the order in which path `a` uses them.
std::vector<std::uint32_t> common_channels(const Path& a, const Path& b);

}  // namespace sluice
