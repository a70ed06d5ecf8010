#include "platform/lookup.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "platform/platform.hpp"

namespace sluice {
namespace {

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

}  // namespace

struct PlatformLookup::Tables {
  explicit Tables(const Platform& platform)
      : devices(platform.devices.size()),
        memories(platform.memories.size()),
        edges(platform.edges.size()) {
    for (const Memory& one : platform.memories) memory.emplace(one.name, one.name);
    for (std::uint32_t d = 0; d < devices; ++d) {
      const Device& one = platform.devices[d];
      device.emplace(one.name, d);
      memory.emplace(one.name, one.memory().own ? one.name : one.memory().pool);
      owner.emplace(one.name, d);
      for (std::size_t m = one.memory().own ? 1 : 0; m < one.memories.size(); ++m) {
        const DeviceMemory& reached = one.memories[m];
        if (reached.own) {
          memory.emplace(reached.pool, reached.pool);
          owner.emplace(reached.pool, d);
        } else if (const auto [user, is_first] = users.emplace(reached.pool, d); !is_first) {
          user->second = nowhere;  // a second device reaches this memory
        }
      }
    }
    for (std::uint32_t e = 0; e < edges; ++e) {
      const Platform::Edge& edge = platform.edges[e];
      const std::uint32_t from = number_of(edge.from);
      ends.push_back({from, number_of(edge.to)});
      leaving[from].push_back(e);
    }
  }

  std::uint32_t number_of(const std::string& name) {
    const auto [found, is_new] = node.emplace(name, static_cast<std::uint32_t>(leaving.size()));
    if (is_new) leaving.emplace_back();
    return found->second;
  }

  /// Returns the edges of the path with the fewest links, or an empty list if there is no path. Of several such paths,
  /// a breadth-first search finds the path whose links were declared first.
  std::vector<std::uint32_t> fewest_links(const std::string& from, const std::string& to) const {
    const auto begin = node.find(memory.at(from)), end = node.find(memory.at(to));
    if (begin == node.end() || end == node.end() || begin == end) return {};
    std::vector<std::uint32_t> reached_by(leaving.size(), nowhere), queue = {begin->second};
    for (std::size_t next = 0; next < queue.size() && reached_by[end->second] == nowhere; ++next)
      for (const std::uint32_t edge : leaving[queue[next]]) {
        const std::uint32_t node = ends[edge].second;
        if (node == begin->second || reached_by[node] != nowhere) continue;
        reached_by[node] = edge;
        queue.push_back(node);
      }
    std::vector<std::uint32_t> way;
    if (reached_by[end->second] == nowhere) return way;
    for (std::uint32_t at = end->second; at != begin->second; at = ends[way.back()].first)
      way.push_back(reached_by[at]);
    std::reverse(way.begin(), way.end());
    return way;
  }

  bool fits(const Platform& platform) const {
    return devices == platform.devices.size() && memories == platform.memories.size() &&
           edges == platform.edges.size();
  }

  /// How many devices, memories and edges the platform had when the tables were made. An edge is one direction of a
  /// link.
  std::size_t devices, memories, edges;
  std::unordered_map<std::string, std::uint32_t> device, node;
  std::unordered_map<std::string, std::string> memory;  ///< the memory of each node, by name
  /// Maps from the name of a node to the index of a device. `owner` maps each memory of a device to this device.
  /// `users` maps a memory of the platform to the device that reaches it without a link, or to `nowhere` if several
  /// devices do.
  std::unordered_map<std::string, std::uint32_t> owner, users;
  /// Indexed by node: the edges that leave it, in the order of declaration.
  std::vector<std::vector<std::uint32_t>> leaving;
  /// Indexed by edge: the node where it begins, and the node where it ends.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::map<std::tuple<std::string, std::string, CopyMode>, Path> paths;

  /// Returns the device whose copy engine moves bytes from one node to another. The second value says whether this
  /// engine works at the last link of the path instead of at the first. The engine is the sender's. Only if the
  /// receiver is a device or a device's memory, and the sender is neither, the engine is the receiver's. If both nodes
  /// are memories of the platform, each counts as a memory of the device in `users`.
  std::pair<std::string, bool> engine(const Platform& platform, const std::string& from,
                                      const std::string& to) const {
    const auto name = [&](const std::unordered_map<std::string, std::uint32_t>& numbers,
                          const std::string& node) {
      const auto found = numbers.find(node);
      return found == numbers.end() || found->second == nowhere
                 ? std::string()
                 : platform.devices[found->second].name;
    };
    for (const auto* numbers : {&owner, &users}) {
      if (std::string sender = name(*numbers, from); !sender.empty())
        return {sender, /*last=*/false};
      if (std::string receiver = name(*numbers, to); !receiver.empty())
        return {receiver, /*last=*/true};
    }
    return {from, /*last=*/false};
  }
};

namespace {

/// Returns the path over the edges `way`, from the memory `from` to the memory `to`.
Path path_along(const Platform& platform, const std::vector<std::uint32_t>& way,
                const std::pair<std::string, bool>& engine, const std::string& from,
                const std::string& to, CopyMode mode) {
  const bool by_compute = mode == CopyMode::synchronous;
  Path path;
  const Platform::Edge& at_engine = platform.edges[engine.second ? way.back() : way.front()];
  path.device = engine.first;
  path.stream = path.device + "." + at_engine.link + "." + at_engine.direction +
                (by_compute ? ".synchronous" : "");
  add_ports(path.channels, platform.read_ports, from);
  for (const std::uint32_t number : way) {
    const Platform::Edge& edge = platform.edges[number];
    const bool differs = by_compute && !edge.synchronous_channels.empty();
    add_once(path.channels, differs ? edge.synchronous_channels : edge.channels);
    path.setup_s += differs ? edge.synchronous_setup_s : edge.setup_s;
    path.latency_s += edge.latency_s;
  }
  add_ports(path.channels, platform.write_ports, to);
  return path;
}

}  // namespace

PlatformLookup::PlatformLookup() = default;
PlatformLookup::~PlatformLookup() = default;
PlatformLookup::PlatformLookup(const PlatformLookup&) {}
PlatformLookup& PlatformLookup::operator=(const PlatformLookup& other) {
  if (this != &other) tables_.reset();
  return *this;
}

PlatformLookup::Tables& PlatformLookup::tables(const Platform& platform) {
  if (!tables_ || !tables_->fits(platform)) tables_ = std::make_unique<Tables>(platform);
  return *tables_;
}

std::uint32_t PlatformLookup::device(const Platform& platform, const std::string& name) {
  const std::lock_guard held(mutex_);
  const auto& devices = tables(platform).device;
  const auto found = devices.find(name);
  return found == devices.end() ? nowhere : found->second;
}

bool PlatformLookup::has_node(const Platform& platform, const std::string& name) {
  const std::lock_guard held(mutex_);
  return tables(platform).memory.count(name) != 0;
}

const std::string& PlatformLookup::memory_of(const Platform& platform, const std::string& name) {
  const std::lock_guard held(mutex_);
  return tables(platform).memory.at(name);
}

const Path& PlatformLookup::path(const Platform& platform, const std::string& from,
                                 const std::string& to, CopyMode mode) {
  std::vector<std::uint32_t> way;
  std::pair<std::string, bool> engine;
  std::string source, target;
  {
    const std::lock_guard held(mutex_);
    Tables& known = tables(platform);
    if (const auto found = known.paths.find({from, to, mode}); found != known.paths.end())
      return found->second;
    way = known.fewest_links(from, to);
    engine = known.engine(platform, from, to);
    source = known.memory.at(from);
    target = known.memory.at(to);
  }
  if (way.empty())
    throw InputError("platform '" + platform.name + "' has no link that leads from '" + from +
                     "' to '" + to + "'");
  Path path = path_along(platform, way, engine, source, target, mode);
  path.name = from + ">" + to + (mode == CopyMode::synchronous ? ".synchronous" : "");
  const std::lock_guard held(mutex_);
  return tables(platform).paths.emplace(std::tuple(from, to, mode), std::move(path)).first->second;
}

std::size_t PlatformLookup::distance(const Platform& platform, const std::string& from,
                                     const std::string& to) {
  const std::lock_guard held(mutex_);
  return tables(platform).fewest_links(from, to).size();
}

}  // namespace sluice
