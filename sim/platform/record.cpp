// The record of a platform document. It says which keys the document may have.
#include "document/record.hpp"

#include "platform/device_memories.hpp"
#include "platform/fields.hpp"
#include "platform/link_rates.hpp"
#include "platform/platform.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary) {
  return {.name = std::move(name), .summary = std::move(summary), .optional = true};
}

Field capacity() {
  Field field = quantity("capacity", Dimension::bytes, "The size in bytes, or unlimited.");
  field.choices = {"unlimited"};
  return field;
}

const Record& rate_record() {
  static const Record record = [] {
    Record made{"rate", "The peak FLOP/s for each dtype; 1 multiply-accumulate is 2 FLOP.", {}};
    for (const std::string& dtype : dtype_names())
      made.fields.push_back(may_be_absent(
          above_zero(quantity(dtype, Dimension::flop_per_s, "Peak FLOP/s in " + dtype + "."))));
    return made;
  }();
  return record;
}

/// Returns the record of the compute units' rates by the number of threads.
const Record& threads_record() {
  static const Record record = {
      "row of by_threads",
      "The byte/s of a number of threads together.",
      {{.name = "threads",
        .type = Type::integer,
        .summary = "The number of threads.",
        .minimum = 1},
       above_zero(quantity("read", Dimension::bytes_per_s, "Byte/s that these threads read.")),
       above_zero(quantity("write", Dimension::bytes_per_s, "Byte/s that these threads write."))}};
  return record;
}

Field by_threads() {
  return {
      .name = "by_threads",
      .type = Type::list,
      .summary =
          "The byte/s of the compute units for each number of threads, in ascending order. Rates between two rows are "
          "interpolated linearly. The key `threads` of the device gives its number of threads.",
      .optional = true,
      .record = &threads_record()};
}

}  // namespace

const Record& device_memory_record() {
  static const Record record = {
      "memory of a device",
      "A memory that belongs to one device.",
      {{.name = "name",
        .summary = "The name of a further memory in a list: ddr of gpu becomes the pool gpu_ddr.",
        .optional = true},
       capacity(),
       with_default(
           quantity(
               "reserved", Dimension::bytes,
               "Bytes of the capacity that no tensor may use: the driver's context, code of kernels, "
               "and bytes that an allocator cannot use."),
           "0B"),
       may_be_absent(above_zero(quantity("bandwidth", Dimension::bytes_per_s,
                                         "Byte/s that the compute units read and write; the "
                                         "roofline cost model needs it."))),
       may_be_absent(above_zero(
           quantity("read", Dimension::bytes_per_s,
                    "Byte/s that the compute units read, if it differs from `bandwidth`."))),
       may_be_absent(above_zero(
           quantity("write", Dimension::bytes_per_s,
                    "Byte/s that the compute units write, if it differs from `bandwidth`."))),
       by_threads()}};
  return record;
}

namespace {

Field share(std::string name, std::string summary) {
  return {.name = std::move(name),
          .type = Type::number,
          .summary = std::move(summary),
          .default_text = "1",
          .maximum = 1,
          .minimum_excluded = true};
}

const Record& roofline_record() {
  static const Record record = {
      "roofline of a device",
      "Shares of the peaks that whole networks reach. The cost model roofline multiplies the peaks by these shares; "
      "the cost model peak does not.",
      {share("compute", "Share of the peak FLOP/s."),
       share("memory", "Share of the memory bandwidth.")}};
  return record;
}

const Record& device_record() {
  static const Record record = {
      "device",
      "A device that computes: a GPU, an IPU, a processor.",
      {{.name = "count",
        .type = Type::integer,
        .summary = "The number of such devices. With 2, gpu becomes gpu0 and gpu1.",
        .default_text = "1",
        .minimum = 1,
        .maximum = 4096},
       {.name = "rate",
        .type = Type::mapping,
        .summary = "Peak FLOP/s by dtype.",
        .record = &rate_record()},
       {.name = "efficiency",
        .type = Type::number,
        .summary = "Share of the peak rate that is reached.",
        .default_text = "1",
        .maximum = 1,
        .minimum_excluded = true},
       {.name = "memory",
        .type = Type::any,
        .summary =
            "The device's own memory, or the name of a memory of the platform that its compute units reach without a "
            "link, or a list of such memories. Tensors are in the first memory of the list unless a plan says "
            "otherwise.",
        .record = &device_memory_record()},
       {.name = "threads",
        .type = Type::integer,
        .summary =
            "The number of threads that read and write its memories. Memories with the key by_threads need it.",
        .optional = true,
        .minimum = 1,
        .maximum = 1000000},
       {.name = "roofline",
        .type = Type::mapping,
        .summary = "Shares of its peaks that whole networks reach, for the roofline cost model.",
        .optional = true,
        .record = &roofline_record()},
       {.name = "units",
        .type = Type::integer,
        .summary =
            "The number of units that compute in parallel, such as streaming multiprocessors of a GPU; "
            "the fitted cost model needs them.",
        .optional = true,
        .minimum = 1,
        .maximum = 1e6},
       may_be_absent(above_zero(
           quantity("cache", Dimension::bytes,
                    "Bytes of the last cache before its memory; the fitted cost model needs it."))),
       text(
           "fit",
           "The bundled fit of measurements on this device. The fitted cost model uses it if the scenario does not "
           "name another fit."),
       with_default(
           quantity("launch_overhead", Dimension::seconds,
                    "Seconds that the roofline cost model adds to the time of each operator."),
           "0s"),
       with_default(quantity("idle", Dimension::watts, "Watts while the device does not compute."),
                    "0W"),
       may_be_absent(quantity(
           "busy", Dimension::watts,
           "Watts while the device computes; by default its watts while it does not compute.")),
       {.name = "tiles",
        .type = Type::integer,
        .summary = "The number of tiles of an IPU, or 0 for a device without tiles.",
        .default_text = "0"},
       {.name = "io_tiles",
        .type = Type::integer,
        .summary = "The number of tiles that are reserved for transfers and do not compute.",
        .default_text = "0"}}};
  return record;
}

}  // namespace

const Record& platform_memory_record() {
  static const Record record = {
      "memory",
      "A memory that does not belong to a device: host DRAM, streaming memory, a disk.",
      {capacity(),
       may_be_absent(above_zero(
           quantity("read", Dimension::bytes_per_s,
                    "Byte/s of all transfers out of the memory. If absent, there is no limit."))),
       may_be_absent(above_zero(
           quantity("write", Dimension::bytes_per_s,
                    "Byte/s of all transfers into the memory. If absent, there is no limit."))),
       may_be_absent(above_zero(quantity(
           "bandwidth", Dimension::bytes_per_s,
           "Byte/s of all transfers into and out of the memory together. If absent, there is no limit."))),
       by_threads()}};
  return record;
}

namespace {

Field by_name(std::string name, std::string summary, const Record& record) {
  return {.name = std::move(name),
          .type = Type::mapping,
          .summary = std::move(summary),
          .optional = true,
          .record = &record,
          .map_of = true};
}

Field switches() {
  return {.name = "switches",
          .type = Type::list,
          .summary = "The names of switches. A switch is a node without memory that links join.",
          .optional = true};
}

const Record& group_record() {
  static const Record record = {
      "group",
      "Devices, memories, switches and links that exist several times.",
      {{.name = "count",
        .type = Type::integer,
        .summary =
            "The number of instances. With 2 instances of node, its gpu becomes node0_gpu and node1_gpu.",
        .default_text = "1",
        .minimum = 1,
        .maximum = 4096},
       by_name("devices", "The devices, by name.", device_record()),
       by_name("memories", "The memories that do not belong to a device, by name.",
               platform_memory_record()),
       switches(),
       by_name("links",
               "The links, by name. They join nodes of the group and nodes of the platform.",
               link_record())}};
  return record;
}

}  // namespace

const Record& platform_record() {
  static const Record record = {
      "platform",
      "A machine: devices, memories and links.",
      {{.name = "format", .summary = "sluice-platform/1"},
       text("name", "The name of the platform."),
       text("summary", "One sentence."),
       text("source", "The source of the figures."),
       {.name = "assumed",
        .type = Type::list,
        .summary =
            "Paths of figures for which no source is known, such as devices.gpu.roofline. Answers that rest on "
            "these figures say so.",
        .optional = true},
       by_name("devices", "The devices, by name.", device_record()),
       by_name("memories", "The memories that do not belong to a device, by name.",
               platform_memory_record()),
       switches(),
       by_name("links", "The links, by name.", link_record()),
       by_name(
           "groups",
           "The groups, by name: parts of the platform that exist several times, with links of their own.",
           group_record())}};
  return record;
}

}  // namespace sluice
