#include "planning/placement/memories.hpp"

#include "planning/copy_time.hpp"

namespace sluice {
namespace {

const Device& chosen(const Platform& platform, const std::string& name) {
  if (!name.empty()) return platform.device(name);
  for (const Device& device : platform.devices)
    if (device.memories.size() > 1) return device;
  return platform.devices.front();
}

}  // namespace

TwoMemories two_memories(const Platform& platform, const std::string& name) {
  TwoMemories of;
  of.device = &chosen(platform, name);
  of.fast = of.device->memory().pool;
  of.fast_capacity = of.device->memory().capacity;
  of.far = of.device->memories.size() < 2;
  if (of.far) {
    of.slow = platform.host().name;
    of.slow_capacity = platform.host().capacity;
  } else {
    const DeviceMemory& slow = of.device->memories[1];
    of.slow = slow.pool;
    of.slow_capacity = slow.capacity;
  }
  const auto rates = [&](CopyMode mode) {
    const CopyTime fetch = copy_time(platform, of.slow, of.fast, mode);
    const CopyTime save = copy_time(platform, of.fast, of.slow, mode);
    return PlacementProblem::Rates{fetch.bandwidth, save.bandwidth, fetch.setup_s, save.setup_s};
  };
  of.synchronous = rates(CopyMode::synchronous);
  of.asynchronous = rates(CopyMode::asynchronous);
  of.cache = of.synchronous;
  if (!of.far) {  // a hardware cache reads and writes slow memory at the memory's own rates
    const DeviceMemory& slow = of.device->memories[1];
    of.cache = {slow.read.value_or(0), slow.write.value_or(0)};
  }
  return of;
}

}  // namespace sluice
