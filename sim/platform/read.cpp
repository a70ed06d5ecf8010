// Reads a platform document. A device becomes `count` devices, and a link becomes one or several channels.
#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/record.hpp"
#include "document/roots.hpp"
#include "platform/device_memories.hpp"
#include "platform/entry_checks.hpp"
#include "platform/link_rates.hpp"
#include "platform/platform.hpp"

namespace sluice {
namespace {

std::optional<double> optional_quantity(const Reader& reader, std::string_view name) {
  if (!reader.has(name)) return std::nullopt;
  return reader.quantity(name);
}

void add_once(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

/// Adds elements to a platform, and checks that their names are valid and unique.
class Builder {
 public:
  explicit Builder(const Value& document) : document_(document, platform_record()) {
    if (document.source()) file_ = std::filesystem::path(document.source()->name).stem().string();
  }
  Platform build();

 private:
  void add_devices(const Value::Entry& entry);
  void add_each(Device device, const Value::Entry& entry, std::int64_t count);
  void add_memory(const Value::Entry& entry);
  void add_switches(const Value& switches);
  void add_nodes(const Reader& part);
  void add_links(const Reader& part);
  void add_group(const Value::Entry& entry);
  WrittenMemory memory_called(const Value& name, const std::string& device) const;
  void require_figures() const;
  void add_link(const Value::Entry& entry);
  void join(const std::string& link, const Reader& reader, const std::vector<std::string>& near,
            const std::vector<std::string>& far);
  std::vector<std::string> nodes_of(const Value& name) const;
  double share_of_threads(const std::string& from, const std::string& to) const;
  void claim(const std::string& name, const Position& where);
  std::uint32_t add_channel(const Reader& reader, std::string name, double bandwidth,
                            double idle_w = 0, double busy_w = 0);
  /// Returns the keys `idle` and `busy` of a device or link. Throws InputError if `busy` is less than `idle`.
  static std::pair<double, double> watts(const Reader& reader);

  Reader document_;
  std::string file_;              ///< the name of the file, without folder and extension
  const Reader* part_ = nullptr;  ///< the part that is being read: the document, or a group
  std::string prefix_;            ///< the prefix of names in that part, such as "node0_"
  Platform platform_;
  /// For each name in the document, the nodes that it stands for: gpu0 and gpu1 for `gpu` with count 2.
  std::map<std::string, std::vector<std::string>> nodes_;
  std::set<std::string> taken_, channels_;
  /// Maps each device to its memories, with the rates in the last rows of their tables `by_threads`.
  std::map<std::string, std::vector<DeviceMemory>> with_all_threads_;
};

std::pair<double, double> Builder::watts(const Reader& reader) {
  const double idle = reader.quantity("idle");
  const double busy = optional_quantity(reader, "busy").value_or(idle);
  if (busy < idle)
    reader.fail("busy", "'" + reader.text("busy") +
                            "' for 'busy': less than the idle watts, expected at least " +
                            format_quantity(idle, Dimension::watts));
  return {idle, busy};
}

void Builder::claim(const std::string& name, const Position& where) {
  require_name(name, where);
  if (!taken_.insert(name).second)
    throw InputError(where, "two devices, memories or switches are called '" + name + "'");
}

/// Returns the memory of this name in the part of the platform that is being read. If this part is a group without such
/// a memory, returns the memory of this name outside of groups.
WrittenMemory Builder::memory_called(const Value& name, const std::string& device) const {
  std::vector<std::string> known;
  for (const Reader* part : {part_, &document_}) {
    const Value* memories = part->value("memories");
    if (!memories) continue;
    if (const Value* found = name.is_scalar() ? memories->find(name.text()) : nullptr)
      return {(part == &document_ ? "" : prefix_) + name.text(), found};
    for (const Value::Entry& memory : memories->entries()) add_once(known, memory.key);
  }
  const std::string asked = name.is_scalar() ? name.text() : "";
  fail_at(name, "'" + asked + "' for the memory of device '" + device +
                    "': the platform has no memory of this name" + did_you_mean(asked, known) +
                    "; known: " + (known.empty() ? "none" : sluice::join(known)) +
                    "; if the memory belongs to this device, "
                    "write a mapping such as {capacity: 24GB, bandwidth: 960GB/s}");
}

void Builder::add_devices(const Value::Entry& entry) {
  const Record& record = record_of(platform_record(), "devices");
  const std::string word = "device '" + entry.key + "'";
  const Reader reader(entry.value, record, word);
  Device device;
  const Reader rate(*reader.value("rate"), record_of(record, "rate"), "the rate of " + word);
  for (const auto& written : rate.map().entries())
    device.rate[dtype_of(written.key)] = rate.quantity(written.key);
  if (device.rate.empty())
    reader.fail("rate", word + " needs a rate for at least one of: " + sluice::join(dtype_names()));
  if (reader.has("threads")) device.threads = reader.integer("threads");
  MemoryUser user = {entry.key, device.threads,
                     [&](const Value& name) { return memory_called(name, entry.key); }};
  device.memories = memories_of(*reader.value("memory"), user);
  user.all_threads = true;
  with_all_threads_[entry.key] = memories_of(*reader.value("memory"), user);
  device.efficiency = reader.number("efficiency");
  if (const Value* shares = reader.value("roofline")) {
    const Reader roofline(*shares, record_of(record, "roofline"), "the roofline of " + word);
    device.roofline = {roofline.number("compute"), roofline.number("memory")};
  }
  if (reader.has("units")) device.units = reader.integer("units");
  if (reader.has("cache")) device.cache = reader.bytes("cache");
  if (reader.has("fit")) device.fit = named_file_or_word(*reader.value("fit"), "");
  device.launch_overhead = reader.quantity("launch_overhead");
  std::tie(device.idle_w, device.busy_w) = watts(reader);
  device.tiles = reader.integer("tiles");
  device.io_tiles = reader.integer("io_tiles");
  if (device.io_tiles > 0 && device.io_tiles >= device.tiles)
    reader.fail("io_tiles", "io_tiles must be fewer than tiles (" + std::to_string(device.tiles) +
                                "), because I/O tiles do not compute");
  const std::int64_t count = reader.integer("count");
  require_few(reader, static_cast<std::int64_t>(platform_.devices.size()) + count);
  add_each(device, entry, count);
}

/// Adds `count` devices like `device`. Each of them gets pools of its own. But if the key `memory` names a memory of
/// the platform, all these devices share it.
void Builder::add_each(Device device, const Value::Entry& entry, std::int64_t count) {
  const std::string key = prefix_ + entry.key;
  const std::vector<DeviceMemory> memories = device.memories;
  if (count > 1) claim(key, entry.position());  // the key stands for all these devices
  for (std::int64_t i = 0; i < count; ++i) {
    device.name = count == 1 ? key : key + std::to_string(i);
    claim(device.name, entry.position());
    with_all_threads_[device.name] = with_all_threads_[entry.key];
    for (std::size_t m = 0; m < memories.size(); ++m) {
      const DeviceMemory& memory = memories[m];
      std::string& pool = device.memories[m].pool;
      if (memory.own) pool = device.name + memory.pool;
      if (m > 0 && !memory.own) continue;
      const std::string ending = m == 0 ? "" : memory.pool;
      if (m > 0) claim(pool, entry.position());
      if (m > 0 && i == 0 && count > 1) claim(key + ending, entry.position());
      // A link that names a device joins the device's first memory.
      add_once(nodes_[key + ending], pool);
      add_once(nodes_[device.name + ending], pool);
    }
    platform_.devices.push_back(device);
  }
}

void Builder::add_memory(const Value::Entry& entry) {
  const Reader reader(entry.value, platform_memory_record(), "memory '" + entry.key + "'");
  const std::string name = prefix_ + entry.key;
  claim(name, entry.position());
  nodes_[name] = {name};
  Memory memory;
  memory.name = name;
  memory.capacity = capacity_of(reader);
  platform_.memories.push_back(memory);
  auto& read = platform_.read_ports[name];
  auto& write = platform_.write_ports[name];
  if (reader.has("read"))
    read.push_back(add_channel(reader, name + ".read", reader.quantity("read")));
  if (reader.has("write"))
    write.push_back(add_channel(reader, name + ".write", reader.quantity("write")));
  if (!reader.has("bandwidth")) return;
  read.push_back(add_channel(reader, name + ".port", reader.quantity("bandwidth")));
  write.push_back(read.back());
}

/// Checks that the document has every figure that it lists under `assumed`.
void Builder::require_figures() const {
  const Value* assumed = document_.value("assumed");
  if (!assumed) return;
  for (const Value& figure : assumed->items()) {
    const Value* place = &document_.map();
    std::string path = figure.is_scalar() ? figure.text() : "";
    while (place && !path.empty()) {
      const std::size_t dot = std::min(path.find('.'), path.size());
      place = place->find(path.substr(0, dot));
      path.erase(0, dot + 1);
    }
    if (!place || !figure.is_scalar() || figure.text().empty())
      fail_at(figure, "'" + (figure.is_scalar() ? figure.text() : std::string("a list")) +
                          "' is not a figure of this platform; expected a path such as "
                          "devices.gpu.roofline or links.host.bandwidth");
  }
}

void Builder::add_switches(const Value& switches) {
  for (const Value& name : switches.items()) {
    if (!name.is_scalar()) fail_at(name, "expected the name of a switch");
    claim(prefix_ + name.text(), name.position());
    nodes_[prefix_ + name.text()] = {prefix_ + name.text()};
  }
}

std::uint32_t Builder::add_channel(const Reader& reader, std::string name, double bandwidth,
                                   double idle_w, double busy_w) {
  if (!channels_.insert(name).second)
    fail_at(reader.map(), "two links or memory ports would be called '" + name + "'");
  platform_.channels.push_back({std::move(name), bandwidth, idle_w, busy_w});
  return static_cast<std::uint32_t>(platform_.channels.size() - 1);
}

std::vector<std::string> Builder::nodes_of(const Value& name) const {
  if (!name.is_scalar()) fail_at(name, "'joins' lists names of devices, memories and switches");
  for (const std::string& word : {prefix_ + name.text(), name.text()})
    if (const auto found = nodes_.find(word); found != nodes_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& node : nodes_) known.push_back(node.first);
  fail_at(name, "no device, memory or switch is called '" + name.text() + "'" +
                    did_you_mean(name.text(), known) + "; known: " + sluice::join(known));
}

void Builder::add_link(const Value::Entry& entry) {
  const Reader reader(entry.value, record_of(platform_record(), "links"),
                      "link '" + entry.key + "'");
  require_name(entry.key, entry.position());
  const std::vector<Value>& joins = reader.value("joins")->items();
  if (joins.size() < 2) reader.fail("joins", "a link joins at least two nodes: [host, gpu]");
  const std::vector<std::string> near = nodes_of(joins.front());
  std::vector<std::string> far;
  std::set<std::string> joined(near.begin(), near.end());
  for (std::size_t i = 1; i < joins.size(); ++i)
    for (const std::string& node : nodes_of(joins[i])) {
      if (!joined.insert(node).second) fail_at(joins[i], "the link joins '" + node + "' twice");
      far.push_back(node);
    }
  if (near.size() != 1 && (joins.size() != 2 || near.size() != far.size()))
    fail_at(joins.front(),
            "'joins' must begin with one node, or with as many nodes "
            "as there are at the other end, but '" +
                joins.front().text() + "' is " + std::to_string(near.size()) +
                " nodes: " + sluice::join(near));
  join(prefix_ + entry.key, reader, near, far);
}

/// In the document, the rate of a link's synchronous copies is for the threads of the last rows of `by_threads`.
/// Returns the share of this rate that the device reaches with its own number of threads. A copy takes the seconds of
/// reading plus the seconds of writing (platforms/FORMAT.md).
double Builder::share_of_threads(const std::string& from, const std::string& to) const {
  const auto seconds = [](const DeviceMemory& source, const DeviceMemory& target) {
    return source.read && target.write ? 1 / *source.read + 1 / *target.write : 0;
  };
  for (const Device& device : platform_.devices) {
    const DeviceMemory *source = device.memory_or_null(from), *target = device.memory_or_null(to);
    if (!source || !target) continue;
    const std::vector<DeviceMemory>& all = with_all_threads_.at(device.name);
    const auto with_all = [&](const DeviceMemory* memory) {
      return all[static_cast<std::size_t>(memory - device.memories.data())];
    };
    const double now = seconds(*source, *target);
    return now > 0 ? std::min(1.0, seconds(with_all(source), with_all(target)) / now) : 1;
  }
  return 1;
}

/// Joins the nodes at the two ends of a link. If `near` is a single node, it is joined with all nodes of `far`.
/// Otherwise node i of `near` is joined with node i of `far`.
void Builder::join(const std::string& link, const Reader& reader,
                   const std::vector<std::string>& near, const std::vector<std::string>& far) {
  const LinkRates rates = rates_of(reader, record_of(platform_record(), "links"));
  const auto [idle, busy] = watts(reader);
  const bool half = reader.text("duplex") == "half";
  const bool shared = reader.text("sharing") == "shared";
  std::vector<std::uint32_t> down, up, all_down, all_up;
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (i == 0 || !shared) {
      const std::string name = shared ? link : link + "." + far[i];
      down = {add_channel(reader, half ? name : name + ".down", rates.down.bandwidth, idle, busy)};
      up = down;
      if (!half) up = {add_channel(reader, name + ".up", rates.up.bandwidth, idle, busy)};
      if (rates.together) {
        down.push_back(add_channel(reader, name + ".together", *rates.together));
        up.push_back(down.back());
      }
      if (rates.synchronous) {
        const std::string& one = near[near.size() == 1 ? 0 : i];
        all_down = {add_channel(reader, name + ".down.synchronous",
                                rates.synchronous->down.bandwidth * share_of_threads(one, far[i]))};
        all_up = {add_channel(reader, name + ".up.synchronous",
                              rates.synchronous->up.bandwidth * share_of_threads(far[i], one))};
      }
    }
    Platform::Edge edge = {near[near.size() == 1 ? 0 : i],
                           far[i],
                           link,
                           "down",
                           down,
                           rates.down.setup_s,
                           rates.latency_s,
                           all_down,
                           rates.synchronous ? rates.synchronous->down.setup_s : 0};
    platform_.edges.push_back(edge);
    std::swap(edge.from, edge.to);
    edge.direction = "up";
    edge.channels = up;
    edge.setup_s = rates.up.setup_s;
    edge.synchronous_channels = all_up;
    edge.synchronous_setup_s = rates.synchronous ? rates.synchronous->up.setup_s : 0;
    platform_.edges.push_back(edge);
  }
}

/// Adds the devices, memories and switches of `part`: the whole platform, or one instance of a group.
void Builder::add_nodes(const Reader& part) {
  part_ = &part;
  if (const Value* devices = part.value("devices"))
    for (const auto& entry : devices->entries()) add_devices(entry);
  if (const Value* memories = part.value("memories"))
    for (const auto& entry : memories->entries()) add_memory(entry);
  if (const Value* switches = part.value("switches")) add_switches(*switches);
}

void Builder::add_links(const Reader& part) {
  if (const Value* links = part.value("links"))
    for (const auto& entry : links->entries()) add_link(entry);
}

/// Adds the nodes and links of all instances of a group. In links, a name such as `node_gpu` stands for the nodes `gpu`
/// of all instances of the group `node`.
void Builder::add_group(const Value::Entry& entry) {
  const Reader group(entry.value, record_of(platform_record(), "groups"),
                     "group '" + entry.key + "'");
  require_name(entry.key, entry.position());
  const std::int64_t count = group.integer("count");
  std::int64_t devices = 0;
  if (const Value* written = group.value("devices"))
    for (const auto& device : written->entries())
      devices += Reader(device.value, record_of(record_of(platform_record(), "groups"), "devices"),
                        "device '" + device.key + "'")
                     .integer("count");
  require_few(group, static_cast<std::int64_t>(platform_.devices.size()) + count * devices);
  for (std::int64_t i = 0; i < count; ++i) {
    prefix_ = entry.key + (count == 1 ? "" : std::to_string(i)) + "_";
    add_nodes(group);
    add_links(group);
    std::map<std::string, std::vector<std::string>> words;
    for (auto at = nodes_.lower_bound(prefix_); count > 1 && at != nodes_.end(); ++at) {
      if (at->first.compare(0, prefix_.size(), prefix_) != 0) break;
      words[entry.key + "_" + at->first.substr(prefix_.size())] = at->second;
    }
    for (const auto& [word, nodes] : words) {
      if (i == 0) claim(word, entry.position());
      for (const std::string& node : nodes) add_once(nodes_[word], node);
    }
    prefix_.clear();
  }
}

Platform Builder::build() {
  // A platform without a name gets the name of its file, for messages.
  platform_.name = document_.has("name") ? document_.text("name") : file_;
  const Value* groups = document_.value("groups");
  if (!document_.has("devices") && !groups)
    document_.fail(
        "devices",
        "the key 'devices' is missing in platform (The devices, by name); expected a mapping, or "
        "'groups' that have devices");
  add_nodes(document_);
  if (groups)
    for (const auto& entry : groups->entries()) add_group(entry);
  if (platform_.devices.empty()) document_.fail("devices", "a platform needs at least one device");
  add_links(document_);
  require_figures();
  return std::move(platform_);
}

}  // namespace

Platform read_platform(const Value& document) {
  require_format(document, "platform");
  return Builder(document).build();
}

Platform load_platform(const std::string& file_or_name, const std::vector<std::string>& overrides) {
  Value document = load_document(find_document(file_or_name, "platforms"), "platforms");
  apply_overrides(document, overrides);
  return read_platform(document);
}

}  // namespace sluice
