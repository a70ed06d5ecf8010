#include "planning/copy_time.hpp"

#include <algorithm>
#include <limits>

namespace sluice {

CopyTime copy_time(const Platform& platform, const std::string& from, const std::string& to) {
  const Path path = platform.path(from, to);
  CopyTime copy{path.setup_s, std::numeric_limits<double>::infinity(), path.latency_s};
  for (const std::uint32_t channel : path.channels)
    copy.bandwidth = std::min(copy.bandwidth, platform.channels[channel].bandwidth);
  return copy;
}

}  // namespace sluice
