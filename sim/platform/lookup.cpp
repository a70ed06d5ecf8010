#include "platform/lookup.hpp"

#include <algorithm>
#include <map>
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
    for (std::uint32_t d = 0; d < devices; ++d) device.emplace(platform.devices[d].name, d);
    for (std::uint32_t m = 0; m < memories; ++m) memory.emplace(platform.memories[m].name, m);
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

  /// Edges of the way with the fewest links, by breadth-first search in the order of declaration;
  /// empty when there is none.
  std::vector<std::uint32_t> fewest_links(const std::string& from, const std::string& to) const {
    const auto begin = node.find(from), end = node.find(to);
    if (begin == node.end() || end == node.end()) return {};
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

  std::size_t devices, memories, edges;  ///< how many there were
  std::unordered_map<std::string, std::uint32_t> device, memory, node;
  std::vector<std::vector<std::uint32_t>> leaving;            ///< edges by node, as declared
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;  ///< from and to, by edge
  std::map<std::pair<std::string, std::string>, Path> paths;
};

namespace {

Path path_along(const Platform& platform, const std::vector<std::uint32_t>& way,
                const std::string& from, const std::string& to) {
  Path path;
  path.name = from + ">" + to;
  // The sender's copy engine, unless only the receiver is a device; then the engine stands at the
  // link that ends there.
  const bool receives =
      platform.device_or_null(from) == nullptr && platform.device_or_null(to) != nullptr;
  const Platform::Edge& at_engine = platform.edges[receives ? way.back() : way.front()];
  path.device = receives ? to : from;
  path.stream = path.device + "." + at_engine.link + "." + at_engine.direction;
  add_ports(path.channels, platform.read_ports, from);
  for (const std::uint32_t number : way) {
    const Platform::Edge& edge = platform.edges[number];
    add_once(path.channels, edge.channels);
    path.setup_s += edge.setup_s;
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

bool PlatformLookup::has_memory(const Platform& platform, const std::string& name) {
  const std::lock_guard held(mutex_);
  return tables(platform).memory.count(name) != 0;
}

const Path& PlatformLookup::path(const Platform& platform, const std::string& from,
                                 const std::string& to) {
  std::vector<std::uint32_t> way;
  {
    const std::lock_guard held(mutex_);
    Tables& known = tables(platform);
    if (const auto found = known.paths.find({from, to}); found != known.paths.end())
      return found->second;
    way = known.fewest_links(from, to);
  }
  if (way.empty())
    throw InputError("platform '" + platform.name + "' has no link that leads from '" + from +
                     "' to '" + to + "'");
  Path path = path_along(platform, way, from, to);
  const std::lock_guard held(mutex_);
  return tables(platform).paths.emplace(std::pair(from, to), std::move(path)).first->second;
}

std::size_t PlatformLookup::distance(const Platform& platform, const std::string& from,
                                     const std::string& to) {
  const std::lock_guard held(mutex_);
  return tables(platform).fewest_links(from, to).size();
}

}  // namespace sluice
