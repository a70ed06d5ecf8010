#include "platform/likeness.hpp"

#include <algorithm>

namespace sluice {

namespace {

// Each function lists all members of the type that it compares. So after a new member is added to the type, this file
// no longer compiles. The author must then add the member to the list, and decide whether the function compares it.

bool alike(const DeviceMemory& a, const DeviceMemory& b) {
  const auto& [pool, own, capacity, reserved, read, write] = a;
  return pool == b.pool && own == b.own && capacity == b.capacity && reserved == b.reserved &&
         read.has_value() == b.read.has_value() && write.has_value() == b.write.has_value();
}

bool alike(const Device& a, const Device& b) {
  const auto& [name, rate, efficiency, memories, threads, roofline, units, cache, fit, overhead,
               idle_w, busy_w, tiles, io_tiles] = a;
  const bool same_rates =
      std::equal(rate.begin(), rate.end(), b.rate.begin(), b.rate.end(),
                 [](const auto& one, const auto& other) { return one.first == other.first; });
  const bool same_memories = std::equal(
      memories.begin(), memories.end(), b.memories.begin(), b.memories.end(),
      [](const DeviceMemory& one, const DeviceMemory& other) { return alike(one, other); });
  return same_rates && same_memories && name == b.name && fit == b.fit && tiles == b.tiles &&
         io_tiles == b.io_tiles;
}

bool alike(const Memory& a, const Memory& b) {
  const auto& [name, capacity] = a;
  return name == b.name && capacity == b.capacity;
}

bool alike(const Channel& a, const Channel& b) {
  const auto& [name, bandwidth, idle_w, busy_w] = a;
  return name == b.name;
}

bool alike(const Platform::Edge& a, const Platform::Edge& b) {
  const auto& [from, to, link, direction, channels, setup_s, latency_s, by_compute,
               by_compute_setup_s] = a;
  return from == b.from && to == b.to && link == b.link && direction == b.direction &&
         channels == b.channels && by_compute == b.synchronous_channels;
}

template <class T>
bool all_alike(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return alike(x, y); });
}

}  // namespace

bool same_but_for_prices(const Platform& a, const Platform& b) {
  const auto& [name, devices, memories, channels, edges, read_ports, write_ports, lookup] = a;
  return name == b.name && all_alike(devices, b.devices) && all_alike(memories, b.memories) &&
         all_alike(channels, b.channels) && all_alike(edges, b.edges) &&
         read_ports == b.read_ports && write_ports == b.write_ports;
}

}  // namespace sluice
