#include "platform/device_memories.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace sluice {
namespace {

struct Rates {
  std::optional<double> read, write;  ///< bytes per second
};

std::optional<double> given(const Reader& keys, const char* name) {
  return keys.has(name) ? std::optional(keys.quantity(name)) : std::nullopt;
}

/// Returns the smaller of two limits. An empty value means no limit.
std::optional<double> lesser(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

/// The rates at which `threads` threads together read and write, in bytes per second.
struct ThreadRates {
  std::int64_t threads = 0;
  double read = 0, write = 0;
};

std::vector<ThreadRates> table_of(const Reader& memory, const Record& record) {
  std::vector<ThreadRates> table;
  for (const Value& row : memory.value("by_threads")->items()) {
    const Reader keys(row, record_of(record, "by_threads"));
    const ThreadRates rates{keys.integer("threads"), keys.quantity("read"), keys.quantity("write")};
    if (!table.empty() && rates.threads <= table.back().threads)
      keys.fail(
          "threads",
          "'" + keys.text("threads") +
              "' for 'threads': each row of by_threads must have more threads than the row before it");
    table.push_back(rates);
  }
  if (table.empty()) memory.fail("by_threads", "'by_threads' is empty: expected at least one row");
  return table;
}

/// Returns the rates for the device's number of threads. If this number lies between two rows of the table, the rates
/// are interpolated linearly between these rows.
Rates rates_with(const std::vector<ThreadRates>& table, const std::string& memory,
                 const Value& written, const MemoryUser& user) {
  const std::int64_t least = table.front().threads, most = table.back().threads;
  const std::string range = "'" + memory + "' has rates under by_threads for " +
                            std::to_string(least) + " to " + std::to_string(most) + " threads";
  if (user.threads == 0)
    fail_at(written, "device '" + user.device + "' has no key 'threads', but " + range +
                         ": add threads: " + std::to_string(most));
  if (user.threads < least || user.threads > most)
    fail_at(written, "device '" + user.device + "' has " + std::to_string(user.threads) +
                         " threads, but " + range);
  if (user.all_threads) return {table.back().read, table.back().write};
  std::size_t next = 0;
  while (table[next].threads < user.threads) ++next;
  const ThreadRates& above = table[next];
  if (above.threads == user.threads) return {above.read, above.write};
  const ThreadRates& below = table[next - 1];
  const double share = static_cast<double>(user.threads - below.threads) /
                       static_cast<double>(above.threads - below.threads);
  return {below.read + share * (above.read - below.read),
          below.write + share * (above.write - below.write)};
}

void refuse_beside(const Reader& memory, const std::vector<const char*>& keys,
                   const std::string& reason) {
  for (const char* key : keys)
    if (memory.has(key)) memory.fail(key, "'" + std::string(key) + "' " + reason);
}

void reserve(DeviceMemory& memory, const Reader& keys) {
  memory.reserved = keys.bytes("reserved");
  if (memory.reserved == 0) return;
  if (!memory.capacity)
    keys.fail("reserved", "'" + keys.text("reserved") +
                              "' for 'reserved': the memory has no limit, so remove 'reserved'");
  if (memory.reserved >= *memory.capacity)
    keys.fail("reserved", "'" + keys.text("reserved") +
                              "' for 'reserved': expected less than the capacity, " +
                              keys.text("capacity"));
  *memory.capacity -= memory.reserved;
}

DeviceMemory own_memory(const Value& written, const MemoryUser& user, bool is_default) {
  const std::string word = "the memory of device '" + user.device + "'";
  const Reader keys(written, device_memory_record(), word);
  DeviceMemory memory;
  if (is_default && keys.has("name"))
    keys.fail(
        "name",
        "'" + keys.text("name") +
            "' for 'name': the first memory of a device has the name of the device; remove this key, and "
            "give names only to the memories after the first");
  if (!is_default && !keys.has("name"))
    fail_at(written, "the key 'name' is missing in a memory after the first memory of device '" +
                         user.device +
                         "'; expected a name such as ddr, so that the memory's pool is '" +
                         user.device + "_ddr', or the name of a memory of the platform");
  if (!is_default) memory.pool = "_" + keys.text("name");
  memory.capacity = capacity_of(keys);
  reserve(memory, keys);
  if (keys.has("by_threads")) {
    refuse_beside(keys, {"bandwidth", "read", "write"},
                  "cannot be given with 'by_threads': remove it");
    const Rates rates = rates_with(table_of(keys, device_memory_record()),
                                   user.device + memory.pool, written, user);
    memory.read = rates.read;
    memory.write = rates.write;
    return memory;
  }
  const std::optional<double> either = given(keys, "bandwidth");
  const auto rate = [&](const char* name) { return keys.has(name) ? given(keys, name) : either; };
  memory.read = rate("read");
  memory.write = rate("write");
  return memory;
}

/// Reads a memory of the platform that the device reaches without a link. The compute units read and write it at its
/// rates `by_threads`, if it has them. Otherwise its keys `read`, `write` and `bandwidth` limit the compute units, as
/// they limit transfers.
DeviceMemory shared_memory(const Value& name, const MemoryUser& user) {
  const WrittenMemory found = user.find(name);
  const Reader keys(*found.keys, platform_memory_record(), "memory '" + found.name + "'");
  DeviceMemory memory;
  memory.pool = found.name;
  memory.own = false;
  memory.capacity = capacity_of(keys);
  if (keys.has("by_threads")) {
    const Rates rates =
        rates_with(table_of(keys, platform_memory_record()), found.name, name, user);
    memory.read = rates.read;
    memory.write = rates.write;
    return memory;
  }
  memory.read = lesser(given(keys, "read"), given(keys, "bandwidth"));
  memory.write = lesser(given(keys, "write"), given(keys, "bandwidth"));
  return memory;
}

}  // namespace

std::optional<std::int64_t> capacity_of(const Reader& memory) {
  if (memory.is_word("capacity", "unlimited")) return std::nullopt;
  return located(*memory.value("capacity"), [&] { return memory.bytes("capacity"); });
}

std::vector<DeviceMemory> memories_of(const Value& written, const MemoryUser& user) {
  std::vector<DeviceMemory> memories;
  const auto add = [&](const Value& one) {
    if (one.is_list())
      fail_at(one, "a list inside the list of memories of device '" + user.device +
                       "'; expected the name of a memory of the platform, or a mapping");
    memories.push_back(one.is_map() ? own_memory(one, user, memories.empty())
                                    : shared_memory(one, user));
    const DeviceMemory& last = memories.back();
    if (std::any_of(memories.begin(), memories.end() - 1, [&](const DeviceMemory& other) {
          return other.own == last.own && other.pool == last.pool;
        }))
      fail_at(one, "device '" + user.device + "' has the memory '" +
                       (last.own ? last.pool.substr(1) : last.pool) + "' twice");
  };
  if (!written.is_list()) {
    add(written);
    return memories;
  }
  for (const Value& one : written.items()) add(one);
  if (memories.empty())
    fail_at(written,
            "device '" + user.device +
                "' has no memory; expected at least one memory; the first memory is the default");
  return memories;
}

}  // namespace sluice
