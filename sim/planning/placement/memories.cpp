#include "planning/placement/memories.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "planning/copy_time.hpp"

namespace sluice {
namespace {

const Device& chosen(const Platform& platform, const std::string& name) {
  if (!name.empty()) return platform.device(name);
  for (const Device& device : platform.devices)
    if (device.memories.size() > 1) return device;
  return platform.devices.front();
}

/// Returns the memory of the platform in which a device with only one memory has its other tensors: host memory. A device
/// that computes in host memory, such as a processor, uses the memory to which it can copy fastest, such as a disk.
const Memory& beyond(const Platform& platform, const Device& device) {
  const std::string& own = device.memory().pool;
  if (platform.host().name != own) return platform.host();
  const Memory* fastest = nullptr;
  double most = 0;
  for (const Memory& memory : platform.memories) {
    if (memory.name == own || !platform.path_or_null(own, memory.name) ||
        !platform.path_or_null(memory.name, own))
      continue;
    const double bandwidth = copy_time(platform, memory.name, own).bandwidth;
    if (bandwidth > most) fastest = &memory;
    most = std::max(most, bandwidth);
  }
  if (!fastest)
    throw InputError(
        "device '" + device.name + "' reaches only memory '" + own +
        "', but a placement needs two memories: add a memory to the platform, and a link that joins it to '" +
        own + "'");
  return *fastest;
}

}  // namespace

TwoMemories two_memories(const Platform& platform, const std::string& name) {
  TwoMemories of;
  of.device = &chosen(platform, name);
  of.fast = of.device->memory().pool;
  of.fast_capacity = of.device->memory().capacity;
  of.far = of.device->memories.size() < 2;
  if (of.far) {
    const Memory& slow = beyond(platform, *of.device);
    of.slow = slow.name;
    of.slow_capacity = slow.capacity;
  } else {
    const DeviceMemory& slow = of.device->memories[1];
    of.slow = slow.pool;
    of.slow_capacity = slow.capacity;
  }
  of.joined = platform.path_or_null(of.slow, of.fast) && platform.path_or_null(of.fast, of.slow);
  const auto rates = [&](CopyMode mode) {
    constexpr double never_used = std::numeric_limits<double>::infinity();
    if (!of.joined) return PlacementProblem::Rates{never_used, never_used};
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
