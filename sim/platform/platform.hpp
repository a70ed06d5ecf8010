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

/// The shares of a device's peak rates that whole networks reach, each above 0 and at most 1. The cost model `roofline`
/// multiplies the peak rates by these shares, and the cost model `peak` ignores them.
struct RooflineShares {
  double compute = 1;  ///< the share of the peak FLOP/s
  double memory = 1;   ///< the share of the memory bandwidth
};

/// A memory that the compute units of a device reach without a link.
struct DeviceMemory {
  /// The name of the memory's pool in plans, such as "gpu" or "gpu_ddr". If the memory belongs to the platform, this is
  /// its name there, such as "dram".
  std::string pool;
  /// Whether the memory belongs to this device alone. If not, it is a memory of the platform (Platform::memories).
  bool own = true;
  /// The bytes that tensors may use: the reserved bytes are already subtracted. Empty if the memory is unlimited.
  std::optional<std::int64_t> capacity;
  std::int64_t reserved = 0;  ///< the bytes that no tensor may use
  /// The bytes per second at which the compute units read and write. Empty if the rate is not given.
  std::optional<double> read, write;

  /// Returns the slower of the two rates, or nothing if one of them is not given.
  std::optional<double> bandwidth() const;
  /// Returns the seconds in which the compute units read (`bytes` - `written`) bytes and write `written` bytes, one
  /// after the other. Returns nothing if a rate that is needed is not given.
  std::optional<double> seconds(double bytes, double written) const;
};

struct Device {
  std::string name;
  std::map<DType, double> rate;  ///< the peak FLOP/s for each dtype
  double efficiency = 1;         ///< the share of the peak FLOP/s that is reached
  /// The memories that the device reaches without a link, at least one. A tensor is in the first memory unless a plan
  /// says otherwise.
  std::vector<DeviceMemory> memories = std::vector<DeviceMemory>(1);
  /// The number of threads that read and write the device's memories, or 0 if it is not given.
  std::int64_t threads = 0;
  RooflineShares roofline;
  /// The number of units that compute in parallel, such as streaming multiprocessors, or 0 if it is not given.
  std::int64_t units = 0;
  /// The bytes of the cache that is next to the device's memory, or 0 if they are not given.
  std::int64_t cache = 0;
  /// The name of the bundled fit to measurements on this device, or an empty text if there is none.
  std::string fit;
  double launch_overhead = 0;  ///< the seconds that the cost model `roofline` adds to each operator
  double idle_w = 0, busy_w = 0;
  /// For an IPU: `tiles` is the number of all its tiles, `io_tiles` the number of those that transfer bytes instead of
  /// computing.
  std::int64_t tiles = 0, io_tiles = 0;

  const DeviceMemory& memory() const { return memories.front(); }
  DeviceMemory& memory() { return memories.front(); }
  /// Returns the memory whose pool has this name, or null if the device reaches no such memory without a link.
  const DeviceMemory* memory_or_null(const std::string& pool) const;

  /// Returns the FLOP/s that the device reaches: rate(dtype) x efficiency x (1 - io_tiles / tiles). Throws InputError
  /// if the device has no rate for `dtype`.
  double flop_per_s(DType dtype) const;
};

/// A memory that does not belong to a device, such as host DRAM, streaming memory or a disk.
struct Memory {
  std::string name;
  std::optional<std::int64_t> capacity;
};

/// Something whose bandwidth is shared by the flows that use it at the same time: one direction of a link, or a port of
/// a memory. Each channel becomes a link of the plan, with the same index.
struct Channel {
  std::string name;  ///< such as "host.down", "host" (half duplex) or "dram.read" (port)
  double bandwidth = 0;
  double idle_w = 0, busy_w = 0;
};

/// Says which part of a device copies the bytes: a copy engine (asynchronous) or the compute units (synchronous). While
/// a copy engine copies, the compute units continue to compute. While the compute units copy, they compute nothing.
enum class CopyMode : std::uint8_t { asynchronous, synchronous };

/// How bytes go from one memory to another. In names of paths, the name of a device stands for its first memory.
struct Path {
  std::string name;    ///< such as "host>gpu"
  std::string stream;  ///< the copy engine "<device>.<link>.<direction>", such as "gpu0.host.down"
  std::string device;  ///< the device to which the copy engine belongs
  std::vector<std::uint32_t> channels;
  double setup_s = 0, latency_s = 0;
};

/// A machine. A device `gpu` with a `count` has become the devices gpu0, gpu1 and so on. A link to these devices with
/// `sharing: private` has become one link per device.
struct Platform {
  std::string name;
  std::vector<Device> devices;
  std::vector<Memory> memories;
  std::vector<Channel> channels;

  /// Returns the device with this name, or throws an InputError that lists the known names.
  const Device& device(const std::string& name) const;
  const Device* device_or_null(const std::string& name) const;
  /// Returns the memory that feeds the devices: the only memory of the platform, or else the memory from which the
  /// fewest links lead to a device. If several memories are equally near, it is the one that is at least as near to
  /// every device as the others. Throws InputError if no memory reaches a device, or if there is no such memory.
  const Memory& host() const;
  /// Returns the route with the fewest links from one node's memory to another node's memory. Of several such routes,
  /// returns the route whose links were declared first. The route's setup and latency are the sums of those of its
  /// links. Each channel is listed only once. `from` and `to` may also name another memory of a device than the first,
  /// such as "gpu_ddr". With CopyMode::synchronous, the route has the links' rates for synchronous copies, and a stream
  /// of its own, such as "cpu.copy.down.synchronous". Throws InputError if no links connect the two nodes. The
  /// reference is valid until the platform is destroyed, or gets a new device, memory or edge.
  const Path& path(const std::string& from, const std::string& to,
                   CopyMode mode = CopyMode::asynchronous) const;
  /// Returns null where path() would throw.
  const Path* path_or_null(const std::string& from, const std::string& to) const;

  struct Edge {  ///< one direction of a link between two nodes
    std::string from, to, link, direction;
    std::vector<std::uint32_t> channels;
    double setup_s = 0, latency_s = 0;
    /// The channels for synchronous copies. Empty if the link has no rates of its own for such copies.
    std::vector<std::uint32_t> synchronous_channels = {};
    double synchronous_setup_s = 0;
  };
  std::vector<Edge> edges;
  /// For each memory, by name: its ports, as indices of channels. A route crosses the read ports of the memory where it
  /// begins, and the write ports of the memory where it ends.
  std::map<std::string, std::vector<std::uint32_t>> read_ports, write_ports;

  mutable PlatformLookup lookup;  ///< internal: the results that device() and path() remember
};

/// Returns the record of a sluice-platform/1 document. The reader, the help and the schema use this record.
const Record& platform_record();

/// Reads a sluice-platform/1 document. Its includes must already be resolved. Throws InputError.
Platform read_platform(const Value& document);

/// Applies the overrides to the document of a platform, and then reads the platform. `file_or_name` is a file, or the
/// name of a bundled platform (in data_root()/platforms).
Platform load_platform(const std::string& file_or_name,
                       const std::vector<std::string>& overrides = {});

}  // namespace sluice
