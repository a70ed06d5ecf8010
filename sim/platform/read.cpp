// Reads a platform document: devices by count, links by direction and sharing.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "document/record.hpp"
#include "document/roots.hpp"
#include "platform/link_rates.hpp"
#include "platform/platform.hpp"

namespace sluice {
namespace {

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

void require_name(const std::string& text, const Position& where) {
  if (!is_name(text))
    throw InputError(where, "'" + text + "' is no name: a letter, then letters, digits and _");
}

std::optional<std::int64_t> capacity_of(const Reader& memory) {
  if (memory.is_word("capacity", "unlimited")) return std::nullopt;
  return located(*memory.value("capacity"), [&] { return memory.bytes("capacity"); });
}

std::optional<double> optional_quantity(const Reader& reader, std::string_view name) {
  if (!reader.has(name)) return std::nullopt;
  return reader.quantity(name);
}

/// Adds to a platform while it checks that names are names, and unique.
class Builder {
 public:
  explicit Builder(const Value& document) : document_(document, platform_record()) {}
  Platform build();

 private:
  void add_devices(const Value::Entry& entry);
  void add_memory(const Value::Entry& entry);
  void add_switches();
  void require_figures() const;
  void add_link(const Value::Entry& entry);
  void join(const std::string& link, const Reader& reader, const std::string& near,
            const std::vector<std::string>& far);
  static void reserve(Device& device, const Reader& memory);
  std::vector<std::string> nodes_of(const Value& name) const;
  void claim(const std::string& name, const Position& where);
  std::uint32_t add_channel(const Reader& reader, std::string name, double bandwidth,
                            double idle_w = 0, double busy_w = 0);
  /// idle and busy watts; busy is at least idle.
  static std::pair<double, double> watts(const Reader& reader);

  Reader document_;
  Platform platform_;
  std::map<std::string, std::vector<std::string>> nodes_;  ///< as written -> expanded by count
  std::set<std::string> taken_, channels_;
};

std::pair<double, double> Builder::watts(const Reader& reader) {
  const double idle = reader.quantity("idle");
  const double busy = optional_quantity(reader, "busy").value_or(idle);
  if (busy < idle)
    reader.fail("busy", "'" + reader.text("busy") + "' for 'busy': busy watts are less than idle " +
                            "watts, expected at least " + format_quantity(idle, Dimension::watts));
  return {idle, busy};
}

void Builder::claim(const std::string& name, const Position& where) {
  require_name(name, where);
  if (!taken_.insert(name).second)
    throw InputError(where, "two devices, memories or switches are called '" + name + "'");
}

void Builder::reserve(Device& device, const Reader& memory) {
  device.reserved = memory.bytes("reserved");
  if (device.reserved == 0) return;
  if (!device.capacity)
    memory.fail("reserved", "'" + memory.text("reserved") +
                                "' for 'reserved': of a memory without limit nothing is reserved");
  if (device.reserved >= *device.capacity)
    memory.fail("reserved", "'" + memory.text("reserved") +
                                "' for 'reserved': expected less than the capacity, " +
                                memory.text("capacity"));
  *device.capacity -= device.reserved;
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
  const Reader memory(*reader.value("memory"), record_of(record, "memory"),
                      "the memory of " + word);
  device.capacity = capacity_of(memory);
  reserve(device, memory);
  device.memory_bandwidth = optional_quantity(memory, "bandwidth");
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
                                "): the others compute");
  const std::int64_t count = reader.integer("count");
  if (count > 1) claim(entry.key, entry.position());  // the word for all of them
  for (std::int64_t i = 0; i < count; ++i) {
    device.name = count == 1 ? entry.key : entry.key + std::to_string(i);
    claim(device.name, entry.position());
    nodes_[entry.key].push_back(device.name);
    if (count > 1) nodes_[device.name] = {device.name};
    platform_.devices.push_back(device);
  }
}

void Builder::add_memory(const Value::Entry& entry) {
  const Reader reader(entry.value, record_of(platform_record(), "memories"),
                      "memory '" + entry.key + "'");
  claim(entry.key, entry.position());
  nodes_[entry.key] = {entry.key};
  Memory memory;
  memory.name = entry.key;
  memory.capacity = capacity_of(reader);
  platform_.memories.push_back(memory);
  auto& read = platform_.read_ports[entry.key];
  auto& write = platform_.write_ports[entry.key];
  if (reader.has("read"))
    read.push_back(add_channel(reader, entry.key + ".read", reader.quantity("read")));
  if (reader.has("write"))
    write.push_back(add_channel(reader, entry.key + ".write", reader.quantity("write")));
  if (!reader.has("bandwidth")) return;
  read.push_back(add_channel(reader, entry.key + ".port", reader.quantity("bandwidth")));
  write.push_back(read.back());
}

/// What is said to be assumed is there.
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
                          "' is no figure of this platform; expected a path such as "
                          "devices.gpu.roofline or links.host.bandwidth");
  }
}

void Builder::add_switches() {
  const Value* switches = document_.value("switches");
  if (switches == nullptr) return;
  for (const Value& name : switches->items()) {
    if (!name.is_scalar()) fail_at(name, "a switch is a name");
    claim(name.text(), name.position());
    nodes_[name.text()] = {name.text()};
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
  if (!name.is_scalar()) fail_at(name, "joins lists names of devices, memories and switches");
  const auto found = nodes_.find(name.text());
  if (found != nodes_.end()) return found->second;
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
  if (near.size() != 1)
    fail_at(joins.front(), "the first node of a link is one, and '" + joins.front().text() +
                               "' is " + std::to_string(near.size()) +
                               " devices: " + sluice::join(near));
  std::vector<std::string> far;
  std::set<std::string> joined;
  for (std::size_t i = 1; i < joins.size(); ++i)
    for (const std::string& node : nodes_of(joins[i])) {
      if (node == near.front() || !joined.insert(node).second)
        fail_at(joins[i], "the link joins '" + node + "' twice");
      far.push_back(node);
    }
  join(entry.key, reader, near.front(), far);
}

void Builder::join(const std::string& link, const Reader& reader, const std::string& near,
                   const std::vector<std::string>& far) {
  const LinkRates rates = rates_of(reader, record_of(platform_record(), "links"));
  const auto [idle, busy] = watts(reader);
  const bool half = reader.text("duplex") == "half";
  const bool shared = reader.text("sharing") == "shared";
  std::vector<std::uint32_t> down, up;
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
    }
    Platform::Edge edge = {near, far[i], link, "down", down, rates.down.setup_s, rates.latency_s};
    platform_.edges.push_back(edge);
    std::swap(edge.from, edge.to);
    edge.direction = "up";
    edge.channels = up;
    edge.setup_s = rates.up.setup_s;
    platform_.edges.push_back(edge);
  }
}

Platform Builder::build() {
  if (document_.has("name")) platform_.name = document_.text("name");
  const Value& devices = *document_.value("devices");
  for (const auto& entry : devices.entries()) add_devices(entry);
  if (platform_.devices.empty()) document_.fail("devices", "a platform has at least one device");
  if (const Value* memories = document_.value("memories"))
    for (const auto& entry : memories->entries()) add_memory(entry);
  add_switches();
  if (const Value* links = document_.value("links"))
    for (const auto& entry : links->entries()) add_link(entry);
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
