// Answers questions about a platform's rates, names and routes.
#include "platform/platform.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

std::vector<std::string> node_names(const Platform& platform) {
  std::vector<std::string> names;
  for (const Device& device : platform.devices) names.push_back(device.name);
  for (const Device& device : platform.devices)
    for (std::size_t m = 1; m < device.memories.size(); ++m)
      if (device.memories[m].own) names.push_back(device.memories[m].pool);
  for (const Memory& memory : platform.memories) names.push_back(memory.name);
  return names;
}

}  // namespace

std::optional<double> DeviceMemory::bandwidth() const {
  if (!read || !write) return std::nullopt;
  return std::min(*read, *write);
}

std::optional<double> DeviceMemory::seconds(double bytes, double written) const {
  if (read && write && *read == *write) return bytes / *read;
  const double is_read = bytes - written;
  if ((is_read > 0 && !read) || (written > 0 && !write)) return std::nullopt;
  return (is_read > 0 ? is_read / *read : 0) + (written > 0 ? written / *write : 0);
}

const DeviceMemory* Device::memory_or_null(const std::string& pool) const {
  for (const DeviceMemory& memory : memories)
    if (memory.pool == pool) return &memory;
  return nullptr;
}

double Device::flop_per_s(DType dtype) const {
  const auto found = rate.find(dtype);
  if (found == rate.end()) {
    std::vector<std::string> known;
    for (const auto& entry : rate) known.emplace_back(name_of(entry.first));
    throw InputError("device '" + name + "' has no rate for " + std::string(name_of(dtype)) +
                     "; it has " + join(known));
  }
  const double computing =
      tiles == 0 ? 1 : 1 - static_cast<double>(io_tiles) / static_cast<double>(tiles);
  return found->second * efficiency * computing;
}

const Device* Platform::device_or_null(const std::string& wanted) const {
  const std::uint32_t number = lookup.device(*this, wanted);
  return number == PlatformLookup::nowhere ? nullptr : &devices[number];
}

const Device& Platform::device(const std::string& wanted) const {
  if (const Device* found = device_or_null(wanted)) return *found;
  std::vector<std::string> known;
  for (const Device& device : devices) known.push_back(device.name);
  throw InputError("platform '" + name + "' has no device '" + wanted + "'" +
                   did_you_mean(wanted, known) + "; it has " + join(known));
}

const Memory& Platform::host() const {
  if (memories.size() == 1) return memories.front();
  // For each memory that reaches a device over links: how many links lead to the nearest device, and to all devices.
  // A device that the memory does not reach counts like a very far device.
  constexpr std::size_t very_far = 1'000'000;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> by_links;
  for (const Memory& memory : memories) {
    std::size_t nearest = very_far, all = 0;
    for (const Device& device : devices) {
      if (lookup.memory_of(*this, device.name) == memory.name) continue;
      const std::size_t links = lookup.distance(*this, memory.name, device.name);
      all += links > 0 ? links : very_far;
      if (links > 0) nearest = std::min(nearest, links);
    }
    if (nearest < very_far) by_links[{nearest, all}].push_back(memory.name);
  }
  if (by_links.empty())
    throw InputError("platform '" + name +
                     "' has no memory that could feed its devices over a link");
  const std::vector<std::string>& names = by_links.begin()->second;
  if (names.size() == 1) return *std::ranges::find(memories, names.front(), &Memory::name);
  throw InputError(
      "platform '" + name + "': more than one memory may feed its devices: " + join(names) +
      "; policies keep the weights in one memory, which has to be nearer to the devices than all others");
}

const Path& Platform::path(const std::string& from, const std::string& to, CopyMode mode) const {
  for (const std::string& node : {from, to})
    if (!lookup.has_node(*this, node)) {
      const std::vector<std::string> names = node_names(*this);
      throw InputError("platform '" + name + "' has no device or memory '" + node + "'" +
                       did_you_mean(node, names) + "; it has " + join(names));
    }
  if (from == to) throw InputError("no route leads from '" + from + "' to itself");
  const std::string& memory = lookup.memory_of(*this, from);
  if (memory == lookup.memory_of(*this, to))
    throw InputError(
        "device '" + (memory == from ? to : from) + "' uses the memory '" + memory +
        "' without a link: nothing is moved between '" + from + "' and '" + to +
        "'; a policy needs a device with a memory of its own, and a link that joins it to '" +
        memory + "'");
  return lookup.path(*this, from, to, mode);
}

const Path* Platform::path_or_null(const std::string& from, const std::string& to) const {
  try {
    return &path(from, to);
  } catch (const InputError&) {
    return nullptr;
  }
}

}  // namespace sluice
