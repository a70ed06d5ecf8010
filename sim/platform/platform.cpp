// Questions to a platform: rates, names, routes.
#include "platform/platform.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace sluice {
namespace {

/// Edges of the way with the fewest links, by breadth-first search in the order of declaration;
/// empty when there is none.
std::vector<const Platform::Edge*> fewest_links(const Platform& platform, const std::string& from,
                                                const std::string& to) {
  std::map<std::string, const Platform::Edge*> reached_by = {{from, nullptr}};
  std::deque<std::string> queue = {from};
  while (!queue.empty() && reached_by.count(to) == 0) {
    const std::string node = queue.front();
    queue.pop_front();
    for (const Platform::Edge& edge : platform.edges)
      if (edge.from == node && reached_by.emplace(edge.to, &edge).second) queue.push_back(edge.to);
  }
  std::vector<const Platform::Edge*> way;
  if (reached_by.count(to) == 0) return way;
  for (std::string node = to; node != from; node = way.back()->from)
    way.push_back(reached_by.at(node));
  std::reverse(way.begin(), way.end());
  return way;
}

void add_once(std::vector<std::uint32_t>& channels, const std::vector<std::uint32_t>& more) {
  for (const std::uint32_t channel : more)
    if (std::find(channels.begin(), channels.end(), channel) == channels.end())
      channels.push_back(channel);
}

void add_ports(std::vector<std::uint32_t>& channels,
               const std::map<std::string, std::vector<std::uint32_t>>& ports,
               const std::string& node) {
  if (const auto found = ports.find(node); found != ports.end()) add_once(channels, found->second);
}

std::vector<std::string> node_names(const Platform& platform) {
  std::vector<std::string> names;
  for (const Device& device : platform.devices) names.push_back(device.name);
  for (const Memory& memory : platform.memories) names.push_back(memory.name);
  return names;
}

void require_node(const Platform& platform, const std::string& name) {
  const std::vector<std::string> names = node_names(platform);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError("platform '" + platform.name + "' has no device or memory '" + name + "'" +
                     did_you_mean(name, names) + "; it has " + join(names));
}

/// Links between a memory and the device nearest to it; 0 when none is reached.
std::size_t distance_to_a_device(const Platform& platform, const Memory& memory) {
  std::size_t nearest = 0;
  for (const Device& device : platform.devices) {
    const std::size_t links = fewest_links(platform, memory.name, device.name).size();
    if (links != 0 && (nearest == 0 || links < nearest)) nearest = links;
  }
  return nearest;
}

}  // namespace

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
  for (const Device& device : devices)
    if (device.name == wanted) return &device;
  return nullptr;
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
    const std::size_t links = distance_to_a_device(*this, memory);
    if (links == 0 || (least != 0 && links > least)) continue;
    if (links < least || least == 0) nearest.clear();
    least = links;
    nearest.push_back(&memory);
  }
  if (nearest.size() == 1) return *nearest.front();
  if (nearest.empty())
    throw InputError("platform '" + name + "' has no memory beside its devices to feed them");
  std::vector<std::string> names;
  for (const Memory* memory : nearest) names.push_back(memory->name);
  throw InputError("platform '" + name +
                   "': more than one memory may feed its devices: " + join(names));
}

Path Platform::path(const std::string& from, const std::string& to) const {
  require_node(*this, from);
  require_node(*this, to);
  if (from == to) throw InputError("no route leads from '" + from + "' to itself");
  const std::vector<const Edge*> way = fewest_links(*this, from, to);
  if (way.empty())
    throw InputError("platform '" + name + "' has no link that leads from '" + from + "' to '" +
                     to + "'");
  Path path;
  path.name = from + ">" + to;
  // The sender's copy engine, unless only the receiver is a device; then the engine stands at the
  // link that ends there.
  const bool receives = device_or_null(from) == nullptr && device_or_null(to) != nullptr;
  const Edge& at_engine = receives ? *way.back() : *way.front();
  path.device = receives ? to : from;
  path.stream = path.device + "." + at_engine.link + "." + at_engine.direction;
  add_ports(path.channels, read_ports, from);
  for (const Edge* edge : way) {
    add_once(path.channels, edge->channels);
    path.setup_s += edge->setup_s;
    path.latency_s += edge->latency_s;
  }
  add_ports(path.channels, write_ports, to);
  return path;
}

}  // namespace sluice
