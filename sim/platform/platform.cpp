// Answers questions about a platform's rates, names and routes.
#include "platform/platform.hpp"

#include <algorithm>

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
  std::vector<const Memory*> nearest;
  std::size_t least = 0;
  for (const Memory& memory : memories) {
    // How many links lead from the memory to the nearest device. 0 means that the memory reaches no
    // device.
    std::size_t links = 0;
    for (const Device& device : devices) {
      const std::size_t far = lookup.distance(*this, memory.name, device.name);
      if (far != 0 && (links == 0 || far < links)) links = far;
    }
    if (links == 0 || (least != 0 && links > least)) continue;
    if (links < least || least == 0) nearest.clear();
    least = links;
    nearest.push_back(&memory);
  }
  if (nearest.size() == 1) return *nearest.front();
  if (nearest.empty())
    throw InputError("platform '" + name +
                     "' has no memory that could feed its devices over a link");
  std::vector<std::string> names;
  for (const Memory* memory : nearest) names.push_back(memory->name);
  throw InputError("platform '" + name +
                   "': more than one memory may feed its devices: " + join(names));
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
    throw InputError("device '" + (memory == from ? to : from) + "' uses the memory '" + memory +
                     "' without a link: nothing is moved between '" + from + "' and '" + to + "'");
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
