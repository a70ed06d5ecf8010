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

namespace {

constexpr std::size_t very_far = 1'000'000;

/// Returns how many links lead from the memory to each device. A device that computes in this memory needs none: this
/// counts as 0. A device that the memory does not reach is very far.
std::vector<std::size_t> links_to(const Platform& platform, const Memory& memory) {
  std::vector<std::size_t> links;
  for (const Device& device : platform.devices) {
    const bool own = platform.lookup.memory_of(platform, device.name) == memory.name;
    const std::size_t far = platform.lookup.distance(platform, memory.name, device.name);
    links.push_back(own ? 0 : far > 0 ? far : very_far);
  }
  return links;
}

/// The same, but a device that computes in the memory is very far: no link feeds it.
std::vector<std::size_t> links_to_others(const Platform& platform, const Memory& memory) {
  std::vector<std::size_t> links = links_to(platform, memory);
  std::ranges::replace(links, std::size_t{0}, very_far);
  links.push_back(very_far);
  return links;
}

/// Returns whether no device is farther from the memory than from `other`, and one is nearer.
bool is_nearer(const Platform& platform, const Memory& memory, const Memory& other) {
  const std::vector<std::size_t> here = links_to(platform, memory),
                                 there = links_to(platform, other);
  bool nearer = false;
  for (std::size_t d = 0; d < here.size(); ++d) {
    if (here[d] > there[d]) return false;
    nearer = nearer || here[d] < there[d];
  }
  return nearer;
}

}  // namespace

const Memory& Platform::host() const {
  if (memories.size() == 1) return memories.front();
  std::vector<const Memory*> nearest;
  std::size_t least = very_far;
  for (const Memory& memory : memories) {
    const std::size_t links = std::ranges::min(links_to_others(*this, memory));
    if (links == very_far || links > least) continue;
    if (links < least) nearest.clear();
    least = links;
    nearest.push_back(&memory);
  }
  if (nearest.empty())
    throw InputError("platform '" + name +
                     "' has no memory that could feed its devices over a link");
  for (const Memory* memory : nearest)
    if (std::ranges::all_of(nearest, [&](const Memory* other) {
          return other == memory || is_nearer(*this, *memory, *other);
        }))
      return *memory;
  std::vector<std::string> names;
  for (const Memory* memory : nearest) names.push_back(memory->name);
  throw InputError(
      "platform '" + name + "': more than one memory may feed its devices: " + join(names) +
      "; policies keep the weights in one memory, to which no device may be nearer than to another");
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
