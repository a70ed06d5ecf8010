// A machine: devices, memories, and the links between them, in SI units.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "document/record.hpp"
#include "document/value.hpp"
#include "platform/lookup.hpp"

namespace sluice {

/// The shares of a device's peaks that whole networks reach, above 0 and at most 1. The cost model `roofline`
/// multiplies the peaks by these shares. The cost model `peak` ignores these shares.
struct RooflineShares {
  double compute = 1;  ///< the share of the peak FLOP/s
  double memory = 1;   ///< the share of the memory bandwidth
};

/// A memory that the compute units of a device reach without a link.
struct DeviceMemory {
  /// The name of the memory's pool in plans: "gpu" or "gpu_ddr". A memory of the platform keeps its own name, such as
  /// "dram".
  std::string pool;
  /// Whether the memory belongs only to this device. All other memories that a device reaches are in
  /// Platform::memories.
  bool own = true;
  /// The bytes that tensors may use, without the reserved bytes. If there is no value, the memory is unlimited.
  std::optional<std::int64_t> capacity;
  std::int64_t reserved = 0;  ///< the bytes that no tensor may use
  /// The bytes per second that the compute units read and write. Empty means that the rate is not given.
  std::optional<double> read, write;

  /// Returns the bytes per second of reading or of writing, whichever is slower.
  std::optional<double> bandwidth() const;
  /// The compute units write `written` bytes and read (`bytes` - `written`) bytes, one after the other. Returns the
  /// seconds for both. If the rate is not given, returns no value.
  std::optional<double> seconds(double bytes, double written) const;
};

struct Device {
  std::string name;
  std::map<DType, double> rate;  ///< the peak FLOP/s for each dtype
  double efficiency = 1;         ///< the share of the peak FLOP/s that is reached
  /// The memories of the device, at least one. Tensors are in the first memory unless a plan says
  /// otherwise.
  std::vector<DeviceMemory> memories = std::vector<DeviceMemory>(1);
  /// The number of threads that read and write the device's memories. The value 0 means that the number is not given.
  std::int64_t threads = 0;
  RooflineShares roofline;
  /// The number of units that compute in parallel, such as streaming multiprocessors. The value is 0 if the number is
  /// not given.
  std::int64_t units = 0;
  /// The bytes of the last cache before the device's memory. The value 0 means that the size is not given.
  std::int64_t cache = 0;
  /// The name of the bundled fit of measurements on this device. If there is none, the text is empty.
  std::string fit;
  double launch_overhead = 0;  ///< the seconds that the cost model `roofline` adds to each operator
  double idle_w = 0, busy_w = 0;
  /// The number of all tiles of an IPU, and the number of its I/O tiles. I/O tiles transfer bytes instead of computing.
  std::int64_t tiles = 0, io_tiles = 0;

  const DeviceMemory& memory() const { return memories.front(); }
  DeviceMemory& memory() { return memories.front(); }
  /// Looks at the memories that the device reaches without a link. Returns the memory whose pool has this name, or
  /// null.
  const DeviceMemory* memory_or_null(const std::string& pool) const;

  /// Returns rate(dtype) x efficiency x (1 - io_tiles / tiles). Without a rate for `dtype`, throws InputError.
  double flop_per_s(DType dtype) const;
};

/// A memory outside of the devices, such as host DRAM, streaming memory or a disk.
struct Memory {
  std::string name;
  std::optional<std::int64_t> capacity;
};

/// A bandwidth that simultaneous flows share: one direction of a link, or a port of a memory. In a plan, each channel
/// becomes a link with the same number.
struct Channel {
  std::string name;  ///< such as "host.down" and "host.up", or "host" if half duplex; "dram.read"
  double bandwidth = 0;
  double idle_w = 0, busy_w = 0;
};

/// Says what copies the bytes. A copy engine copies while the compute units continue to compute. If the compute units
/// copy, all of them do nothing else during the copy.
enum class CopyMode : std::uint8_t { asynchronous, synchronous };

/// How bytes move from one memory to another. The name of a device stands for its first memory.
struct Path {
  std::string name;    ///< such as "host>gpu"
  std::string stream;  ///< the copy engine "<device>.<link>.<direction>", such as "gpu0.host.down"
  std::string device;  ///< the device to which the copy engine belongs
  std::vector<std::uint32_t> channels;
  double setup_s = 0, latency_s = 0;
};

/// A machine. A device with a `count` becomes gpu0, gpu1 and so on, and a private link becomes one link per device.
struct Platform {
  std::string name;
  std::vector<Device> devices;
  std::vector<Memory> memories;
  std::vector<Channel> channels;

  /// Returns the device with this name, or throws an InputError that lists the known names.
  const Device& device(const std::string& name) const;
  const Device* device_or_null(const std::string& name) const;
  /// Returns the memory that feeds the devices: the memory with the fewest links to a device. Throws InputError if no
  /// memory reaches a device. Also throws InputError if several memories are equally near.
  const Memory& host() const;
  /// Returns the route with the fewest links from one node's memory to another node's memory. Of several such routes,
  /// returns the route whose links were declared first. Setup and latency are sums over the links. Each channel is
  /// listed only once. An end may also be a memory that is not the first memory of its device ("gpu_ddr"). A
  /// synchronous copy uses the links' rates for synchronous copies. It runs on a stream of its own, such as
  /// "cpu.copy.down.synchronous". Throws InputError if no links connect the two nodes. The reference is valid until the
  /// platform ends, or gets a new device, memory or edge.
  const Path& path(const std::string& from, const std::string& to,
                   CopyMode mode = CopyMode::asynchronous) const;
  /// Returns null where path() would throw.
  const Path* path_or_null(const std::string& from, const std::string& to) const;

  struct Edge {  ///< one direction of a link between two nodes
    std::string from, to, link, direction;
    std::vector<std::uint32_t> channels;
    double setup_s = 0, latency_s = 0;
    /// The channels for copies by the compute units. The list is empty if the link has no separate
    /// rates for such copies.
    std::vector<std::uint32_t> synchronous_channels = {};
    double synchronous_setup_s = 0;
  };
  std::vector<Edge> edges;
  /// The ports of memories. A route crosses the read ports of its source and the write ports of its target.
  std::map<std::string, std::vector<std::uint32_t>> read_ports, write_ports;

  mutable PlatformLookup lookup;  ///< internal: the results that device() and path() remember
};

/// Returns the record of a sluice-platform/1 document, for reading, for help and for the schema.
const Record& platform_record();

/// Reads a sluice-platform/1 document whose includes are resolved. Throws InputError.
Platform read_platform(const Value& document);

/// Reads the platform in a file, or the bundled platform with this name (data_root()/platforms), and applies overrides.
Platform load_platform(const std::string& file_or_name,
                       const std::vector<std::string>& overrides = {});

}  // namespace sluice
