#include "planning/replica.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {

namespace {

auto figures(const Device& device) {
  return std::tie(device.rate, device.efficiency, device.capacity, device.memory_bandwidth,
                  device.roofline.compute, device.roofline.memory, device.launch_overhead,
                  device.idle_w, device.busy_w, device.tiles, device.io_tiles);
}

bool alike(const Platform& platform, const Path& a, const Path& b) {
  const auto figures = [&](std::uint32_t number) {
    const Channel& channel = platform.channels[number];
    return std::tie(channel.bandwidth, channel.idle_w, channel.busy_w);
  };
  return a.setup_s == b.setup_s && a.latency_s == b.latency_s &&
         std::equal(a.channels.begin(), a.channels.end(), b.channels.begin(), b.channels.end(),
                    [&](auto x, auto y) { return figures(x) == figures(y); });
}

}  // namespace

bool alike(const Platform& platform, const std::string& device, const std::string& other) {
  const std::string& host = platform.host().name;
  return figures(platform.device(device)) == figures(platform.device(other)) &&
         alike(platform, platform.path(host, device), platform.path(host, other)) &&
         alike(platform, platform.path(device, host), platform.path(other, host));
}

Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to) {
  for (Pool& pool : plan.pools)
    for (std::string* name : {&pool.name, &pool.owner})
      if (*name == from)
        *name = to;
      else if (*name == to)
        *name = from;
  std::vector<char> done(plan.routes.size(), 0);
  for (const Action& action : plan.actions) {
    if (!action.is_transfer() || std::exchange(done[action.flow().route], 1)) continue;
    const Flow& flow = action.flow();
    const Path path = platform.path(plan.pools[flow.from].name, plan.pools[flow.to].name);
    plan.routes[flow.route] = {path.name, path.channels, path.setup_s, path.latency_s};
    Stream& stream = plan.streams[action.stream];
    stream.name = path.stream;
    stream.device = path.device;
  }
  for (Stream& stream : plan.streams)
    if (stream.kind == StreamKind::compute && stream.device == from) {
      stream.name = to + ".compute";
      stream.device = to;
    }
  return plan;
}

}  // namespace sluice
