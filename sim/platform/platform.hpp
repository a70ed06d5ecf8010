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

/// The shares of a device's peaks that whole networks reach, above 0 and at most 1. The cost model
/// roofline multiplies with them; peak does not.
struct RooflineShares {
  double compute = 1;  ///< of the peak FLOP/s
  double memory = 1;   ///< of the memory bandwidth
};

/// A memory that the compute units of a device reach without a link.
struct DeviceMemory {
  /// Its pool in plans: "gpu", "gpu_ddr"; that of a memory of the platform is called as it: "dram".
  std::string pool;
  bool own = true;  ///< it belongs to this device alone; else it is one of Platform::memories
  /// Bytes that are there for tensors: those of the memory less those reserved; none: unlimited.
  std::optional<std::int64_t> capacity;
  std::int64_t reserved = 0;          ///< bytes that no tensor gets
  std::optional<double> read, write;  ///< byte/s of the compute units; none: not said

  /// Byte/s either way: the lesser, where the directions differ.
  std::optional<double> bandwidth() const;
  /// Of so many bytes, `written` of which are written: the compute units read and write in turn.
  /// None: the rate is not said.
  std::optional<double> seconds(double bytes, double written) const;
};

struct Device {
  std::string name;
  std::map<DType, double> rate;  ///< peak FLOP/s by dtype
  double efficiency = 1;         ///< share of the peak that is reached
  /// At least one; the first is where its tensors lie unless a plan says otherwise.
  std::vector<DeviceMemory> memories = std::vector<DeviceMemory>(1);
  std::int64_t threads = 0;  ///< that its memories are read and written with; 0: not said
  RooflineShares roofline;
  std::int64_t units = 0;  ///< that compute side by side, as streaming multiprocessors; 0: not said
  std::int64_t cache = 0;  ///< bytes of the last cache before its memory; 0: not said
  std::string fit;         ///< the bundled fit of what was measured on it; empty: none
  double launch_overhead = 0;  ///< s per operator
  double idle_w = 0, busy_w = 0;
  std::int64_t tiles = 0, io_tiles = 0;  ///< IPU: I/O tiles take part in no compute

  const DeviceMemory& memory() const { return memories.front(); }
  DeviceMemory& memory() { return memories.front(); }
  /// The memory that is a pool of that name; null: it reaches none without a link.
  const DeviceMemory* memory_or_null(const std::string& pool) const;

  /// rate(dtype) x efficiency x (1 - io_tiles / tiles). Throws InputError naming the dtypes it has.
  double flop_per_s(DType dtype) const;
};

/// A memory that belongs to no device: host DRAM, streaming memory, a disk.
struct Memory {
  std::string name;
  std::optional<std::int64_t> capacity;
};

/// A constraint that flows share: see plan's Link.
struct Channel {
  std::string name;  ///< "host.down", "host.up"; "host" when half duplex; "dram.read"
  double bandwidth = 0;
  double idle_w = 0, busy_w = 0;
};

/// Who copies: a copy engine beside the compute units, or all compute units, which then do nothing
/// else.
enum class CopyMode : std::uint8_t { asynchronous, synchronous };

/// How bytes get from one memory to another. Nodes are named by device or memory.
struct Path {
  std::string name;    ///< "host>gpu"
  std::string stream;  ///< the copy engine: "<device>.<link>.<direction>", "gpu0.host.down"
  std::string device;  ///< whose copy engine it is
  std::vector<std::uint32_t> channels;
  double setup_s = 0, latency_s = 0;
};

/// Devices are expanded by `count` (gpu -> gpu0, gpu1), private links by device.
struct Platform {
  std::string name;
  std::vector<Device> devices;
  std::vector<Memory> memories;
  std::vector<Channel> channels;

  const Device& device(const std::string& name) const;  ///< throws InputError with the known names
  const Device* device_or_null(const std::string& name) const;
  /// The memory that feeds the devices: the only one, or the one that fewest links lead from to a
  /// device. Throws InputError when there is none, or several are as near.
  const Memory& host() const;
  /// The route with the fewest links from one node's memory to another's; of several, the one whose
  /// links were declared first. Setup and latency are sums; a channel is crossed once. Throws
  /// InputError when nothing joins them.
  /// Ends may be further memories of devices, too ("gpu_ddr"). A synchronous copy takes what the
  /// links say of such, and a stream of its own, "cpu.copy.down.synchronous".
  /// The answer stands as long as the platform, unless devices, memories or edges are added to it.
  const Path& path(const std::string& from, const std::string& to,
                   CopyMode mode = CopyMode::asynchronous) const;

  struct Edge {  ///< one direction of a link between two nodes
    std::string from, to, link, direction;
    std::vector<std::uint32_t> channels;
    double setup_s = 0, latency_s = 0;
    /// Of copies by the compute units, where the link says that they differ.
    std::vector<std::uint32_t> synchronous_channels = {};
    double synchronous_setup_s = 0;
  };
  std::vector<Edge> edges;
  /// Ports of memories, crossed by each route that reads from or writes to them.
  std::map<std::string, std::vector<std::uint32_t>> read_ports, write_ports;

  mutable PlatformLookup lookup;  ///< not for others: what device() and path() found before
};

/// What a sluice-platform/1 document may contain: for reading, help and the schema.
const Record& platform_record();

/// Reads a sluice-platform/1 document, includes resolved. Throws InputError.
Platform read_platform(const Value& document);

/// Reads a file, or the platform of that name in the zoo (data_root()/platforms), with overrides.
Platform load_platform(const std::string& file_or_name,
                       const std::vector<std::string>& overrides = {});

}  // namespace sluice
