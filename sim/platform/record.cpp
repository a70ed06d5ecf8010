// The record of a platform document: which keys it may have, and what they mean.
#include "document/key.hpp"

#include "platform/device_memories.hpp"
#include "platform/link_rates.hpp"
#include "platform/platform.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary) {
  return Key::text(std::move(name), std::move(summary)).or_absent();
}

Field capacity() {
  return Key::quantity("capacity", Dimension::bytes, "The size in bytes, or unlimited.")
      .or_words({"unlimited"});
}

const Record& rate_record() {
  static const Record record = [] {
    Record made{"rate", "The peak FLOP/s for each dtype; 1 multiply-accumulate is 2 FLOP.", {}};
    for (const std::string& dtype : dtype_names())
      made.fields.push_back(
          Key::quantity(dtype, Dimension::flop_per_s, "Peak FLOP/s in " + dtype + ".")
              .or_absent()
              .more_than(0));
    return made;
  }();
  return record;
}

/// Returns the record of a row of `by_threads`. The row gives the rates that a number of threads reach together.
const Record& threads_record() {
  static const Record record = {
      "row of by_threads",
      "The rates, in byte/s, at which a number of threads together read and write the memory.",
      {Key::integer("threads", "The number of threads.").at_least(1),
       Key::quantity("read", Dimension::bytes_per_s,
                     "The rate at which these threads read, in byte/s.")
           .more_than(0),
       Key::quantity("write", Dimension::bytes_per_s,
                     "The rate at which these threads write, in byte/s.")
           .more_than(0)}};
  return record;
}

Field by_threads() {
  return Key::
      list("by_threads",
           "The rates, in byte/s, at which compute units read and write this memory. Each row is for one number of "
           "threads, and each row has more threads than the row before it. Between two rows, the rates are "
           "interpolated linearly. The number of threads is the value of the device's key `threads`.")
          .or_absent()
          .with_keys(threads_record());
}

}  // namespace

const Record& device_memory_record() {
  static const Record record = {
      "memory of a device",
      "A memory that belongs to one device.",
      {Key::text(
           "name",
           "The name of the memory, for all memories of a list except the first. The memory `ddr` of `gpu` becomes "
           "the pool `gpu_ddr`.")
           .or_absent(),
       capacity(),
       Key::quantity(
           "reserved", Dimension::bytes,
           "The bytes of the capacity that no tensor may use: the driver's context, the code of kernels, and bytes "
           "that an allocator leaves unused.")
           .by_default("0B"),
       Key::quantity(
           "bandwidth", Dimension::bytes_per_s,
           "The rate at which the compute units read and write, in byte/s. The cost model "
           "`roofline` needs this rate.")
           .or_absent()
           .more_than(0),
       Key::quantity("read", Dimension::bytes_per_s,
                     "The rate at which the compute units read, in byte/s; by default `bandwidth`.")
           .or_absent()
           .more_than(0),
       Key::quantity(
           "write", Dimension::bytes_per_s,
           "The rate at which the compute units write, in byte/s; by default `bandwidth`.")
           .or_absent()
           .more_than(0),
       by_threads()}};
  return record;
}

namespace {

Field share(std::string name, std::string summary) {
  return Key::number(std::move(name), std::move(summary)).by_default("1").more_than(0).at_most(1);
}

const Record& roofline_record() {
  static const Record record = {
      "roofline of a device",
      "Whole networks reach only a share of the device's peak FLOP/s and memory bandwidth. The cost model "
      "`roofline` multiplies the peaks by these shares. The cost model `peak` ignores these shares.",
      {share("compute", "The share of the peak FLOP/s."),
       share("memory", "The share of the memory bandwidth.")}};
  return record;
}

const Record& device_record() {
  static const Record record = {
      "device",
      "A device that computes: a GPU, an IPU, a processor.",
      {Key::integer(
           "count",
           "The number of devices of this kind. If the number is 2, the device `gpu` becomes `gpu0` and `gpu1`.")
           .by_default("1")
           .between(1, 4096),
       Key::mapping("rate", "Peak FLOP/s by dtype.").with_keys(rate_record()),
       Key::number("efficiency", "The share of the peak rate that is reached.")
           .by_default("1")
           .more_than(0)
           .at_most(1),
       Key::any(
           "memory",
           "The memories that the device's compute units reach without a link: one memory, or a list. A mapping is a "
           "memory of the device's own, and a name is a memory of the platform. By default, tensors are in the first "
           "memory of the list.")
           .with_keys(device_memory_record()),
       Key::integer(
           "threads",
           "The number of threads that read and write the device's memories. This number is needed if a memory "
           "has the key `by_threads`.")
           .or_absent()
           .between(1, 1000000),
       Key::mapping(
           "roofline",
           "The shares of the device's peak rates that whole networks reach. Only the cost model `roofline` uses "
           "them.")
           .or_absent()
           .with_keys(roofline_record()),
       Key::integer(
           "units",
           "The number of units that compute in parallel, such as streaming multiprocessors of a GPU. The cost model "
           "`fitted` needs this number.")
           .or_absent()
           .between(1, 1e6),
       Key::quantity(
           "cache", Dimension::bytes,
           "The bytes of the last cache before the memory. The cost model `fitted` needs this number.")
           .or_absent()
           .more_than(0),
       text(
           "fit",
           "The bundled fit of measurements on this device. The cost model `fitted` uses this fit if the scenario does "
           "not name another fit."),
       Key::quantity(
           "launch_overhead", Dimension::seconds,
           "The seconds that the cost model `roofline` adds to the time of each operator.")
           .by_default("0s"),
       Key::quantity("idle", Dimension::watts,
                     "The watts that the device takes while it does not compute.")
           .by_default("0W"),
       Key::quantity(
           "busy", Dimension::watts,
           "The watts that the device takes while it computes; by default the watts of `idle`.")
           .or_absent(),
       Key::integer("tiles", "The number of tiles of an IPU, or 0 for a device without tiles.")
           .by_default("0"),
       Key::integer("io_tiles",
                    "The number of tiles that are reserved for transfers and do not compute.")
           .by_default("0")}};
  return record;
}

}  // namespace

const Record& platform_memory_record() {
  static const Record record = {
      "memory",
      "A memory that does not belong to a device: host DRAM, streaming memory, a disk.",
      {capacity(),
       Key::quantity(
           "read", Dimension::bytes_per_s,
           "The most bytes per second of all transfers out of the memory together. By default there is no limit.")
           .or_absent()
           .more_than(0),
       Key::quantity(
           "write", Dimension::bytes_per_s,
           "The most bytes per second of all transfers into the memory together. By default there is no limit.")
           .or_absent()
           .more_than(0),
       Key::quantity(
           "bandwidth", Dimension::bytes_per_s,
           "The most bytes per second of all transfers into and out of the memory together. By default there is no "
           "limit.")
           .or_absent()
           .more_than(0),
       by_threads()}};
  return record;
}

namespace {

Field by_name(std::string name, std::string summary, const Record& record) {
  return Key::mapping(std::move(name), std::move(summary)).or_absent().with_entries(record);
}

Field switches() {
  return Key::list("switches", "The names of switches. A switch joins links and has no memory.")
      .or_absent();
}

const Record& group_record() {
  static const Record record = {
      "group",
      "Devices, memories, switches and links that exist several times.",
      {Key::integer(
           "count",
           "The number of instances. If the group `node` has 2 instances, its device `gpu` becomes `node0_gpu` and "
           "`node1_gpu`.")
           .by_default("1")
           .between(1, 4096),
       by_name("devices", "The devices, by name.", device_record()),
       by_name("memories",
               "The memories that do not belong to a device. Each key is the name of a memory.",
               platform_memory_record()),
       switches(),
       by_name(
           "links",
           "The links between nodes of the group, or from them to nodes of the platform. Each key is the name of a "
           "link.",
           link_record())}};
  return record;
}

}  // namespace

const Record& platform_record() {
  static const Record record = {
      "platform",
      "A machine: devices, memories and links.",
      {Key::text("format", "sluice-platform/1"), text("name", "The name of the platform."),
       text("summary", "One sentence."), text("source", "The source of the figures."),
       Key::list(
           "assumed",
           "The paths of figures for which no source is known, such as devices.gpu.roofline. An answer that depends "
           "on such a figure names the figure.")
           .or_absent(),
       by_name("devices", "The devices, by name.", device_record()),
       by_name("memories",
               "The memories that do not belong to a device. Each key is the name of a memory.",
               platform_memory_record()),
       switches(), by_name("links", "The links, by name.", link_record()),
       by_name(
           "groups",
           "The groups. A group is a part of the platform that exists several times and has its own links. Each key is "
           "the name of a group.",
           group_record())}};
  return record;
}

}  // namespace sluice
