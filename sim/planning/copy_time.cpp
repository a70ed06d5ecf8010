#include "planning/copy_time.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

CopyTime copy_time(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode) {
  const Path& path = platform.path(from, to, mode);
  return {path.setup_s, narrowest(platform, path.channels), path.latency_s};
}

double narrowest(const Platform& platform, const std::vector<std::uint32_t>& channels) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t channel : channels)
    least = std::min(least, platform.channels[channel].bandwidth);
  return least;
}

std::vector<std::uint32_t> common_channels(const Path& a, const Path& b) {
  std::vector<std::uint32_t> common;
  for (const std::uint32_t channel : a.channels)
    if (std::find(b.channels.begin(), b.channels.end(), channel) != b.channels.end())
      common.push_back(channel);
  return common;
}

}  // namespace sluice
