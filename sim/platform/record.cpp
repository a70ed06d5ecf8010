// What a platform document may contain.
#include "document/record.hpp"

#include "platform/platform.hpp"

namespace sluice {
namespace {

Field text(std::string name, std::string summary) {
  return {.name = std::move(name), .summary = std::move(summary), .optional = true};
}

Field quantity(std::string name, Dimension dimension, std::string summary) {
  return {.name = std::move(name),
          .type = Type::quantity,
          .summary = std::move(summary),
          .dimension = dimension};
}

Field with_default(Field field, std::string written) {
  field.default_text = std::move(written);
  return field;
}

Field may_be_absent(Field field) {
  field.optional = true;
  return field;
}

Field above_zero(Field field) {
  field.minimum_excluded = true;
  return field;
}

Field capacity() {
  Field field = quantity("capacity", Dimension::bytes, "Size in bytes, or unlimited.");
  field.choices = {"unlimited"};
  return field;
}

const Record& rate_record() {
  static const Record record = [] {
    Record made{"rate", "Peak FLOP/s by dtype; 1 multiply-accumulate is 2 FLOP.", {}};
    for (const std::string& dtype : dtype_names())
      made.fields.push_back(may_be_absent(
          above_zero(quantity(dtype, Dimension::flop_per_s, "Peak FLOP/s in " + dtype + "."))));
    return made;
  }();
  return record;
}

const Record& device_memory_record() {
  static const Record record = {
      "memory of a device",
      "A device's own memory.",
      {capacity(),
       with_default(quantity("reserved", Dimension::bytes,
                             "Bytes of the capacity that no tensor gets: the driver's context, "
                             "kernels, what an allocator cannot use."),
                    "0B"),
       may_be_absent(above_zero(quantity("bandwidth", Dimension::bytes_per_s,
                                         "Byte/s that the compute units read and write; the "
                                         "roofline cost model needs it.")))}};
  return record;
}

Field share(std::string name, std::string summary) {
  return {.name = std::move(name),
          .type = Type::number,
          .summary = std::move(summary),
          .default_text = "1",
          .maximum = 1,
          .minimum_excluded = true};
}

const Record& roofline_record() {
  static const Record record = {"roofline of a device",
                                "Shares of the peaks that whole networks reach: the cost model "
                                "roofline multiplies with them, "
                                "peak does not.",
                                {share("compute", "Share of the peak FLOP/s."),
                                 share("memory", "Share of the memory bandwidth.")}};
  return record;
}

const Record& device_record() {
  static const Record record = {
      "device",
      "What computes: a GPU, an IPU, a processor.",
      {{.name = "count",
        .type = Type::integer,
        .summary = "How many; 2 of gpu are gpu0 and gpu1.",
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
        .type = Type::mapping,
        .summary = "Its own memory.",
        .record = &device_memory_record()},
       {.name = "roofline",
        .type = Type::mapping,
        .summary = "Shares of its peaks that whole networks reach, for the roofline cost model.",
        .optional = true,
        .record = &roofline_record()},
       {.name = "units",
        .type = Type::integer,
        .summary = "Units that compute side by side, as the streaming multiprocessors of a GPU; "
                   "the fitted cost model needs them.",
        .optional = true,
        .minimum = 1,
        .maximum = 1e6},
       may_be_absent(above_zero(quantity("cache", Dimension::bytes,
                                         "The last cache before its memory; the fitted cost model "
                                         "needs it."))),
       text("fit",
            "The bundled fit of what was measured on it, which the fitted cost model takes "
            "where none is named."),
       with_default(quantity("launch_overhead", Dimension::seconds,
                             "Seconds that each operator adds in the roofline cost model."),
                    "0s"),
       with_default(quantity("idle", Dimension::watts, "Watts while it computes nothing."), "0W"),
       may_be_absent(quantity("busy", Dimension::watts,
                              "Watts while it computes; where absent, as many as idle.")),
       {.name = "tiles",
        .type = Type::integer,
        .summary = "Tiles of an IPU; 0: not divided into tiles.",
        .default_text = "0"},
       {.name = "io_tiles",
        .type = Type::integer,
        .summary = "Tiles set aside for transfers, which take part in no compute.",
        .default_text = "0"}}};
  return record;
}

const Record& memory_record() {
  static const Record record = {
      "memory",
      "A memory that belongs to no device: host DRAM, streaming memory, a disk.",
      {capacity(),
       may_be_absent(above_zero(quantity("read", Dimension::bytes_per_s,
                                         "Byte/s of all transfers out of it; absent: no limit."))),
       may_be_absent(above_zero(quantity("write", Dimension::bytes_per_s,
                                         "Byte/s of all transfers into it; absent: no limit."))),
       may_be_absent(above_zero(quantity("bandwidth", Dimension::bytes_per_s,
                                         "Byte/s of all transfers into and out of it together; "
                                         "absent: no limit.")))}};
  return record;
}

Field bandwidth_of_a_direction() {
  return may_be_absent(above_zero(quantity("bandwidth", Dimension::bytes_per_s,
                                           "Byte/s; absent: the link's, or `share` of it.")));
}

Field share_of_the_bandwidth() {
  return {.name = "share",
          .type = Type::number,
          .summary = "Its bandwidth as a share of the link's, which may change.",
          .optional = true,
          .minimum_excluded = true};
}

/// One direction of a link, where it differs from the other.
const Record& direction_record() {
  static const Record record = {
      "direction of a link",
      "What differs in one direction.",
      {bandwidth_of_a_direction(), share_of_the_bandwidth(),
       may_be_absent(quantity("setup", Dimension::seconds,
                              "Seconds for which a transfer occupies its copy engine before bytes "
                              "flow; absent: the link's."))}};
  return record;
}

Field direction(std::string name, std::string summary) {
  return {.name = std::move(name),
          .type = Type::mapping,
          .summary = std::move(summary),
          .optional = true,
          .record = &direction_record()};
}

/// What copies of pageable memory take instead.
const Record& pageable_record() {
  static const Record record = {
      "pageable copies of a link",
      "What differs where host memory is not pinned.",
      {bandwidth_of_a_direction(), share_of_the_bandwidth(),
       may_be_absent(quantity("setup", Dimension::seconds, "As that of the link.")),
       direction("down", "Away from the first node of `joins`."),
       direction("up", "Back to the first node of `joins`.")}};
  return record;
}

const Record& link_record() {
  static const Record record = {
      "link",
      "What joins devices, memories and switches.",
      {{.name = "joins",
        .type = Type::list,
        .summary = "One node, then those at the other end; a device with a count means all of "
                   "its kind."},
       above_zero(quantity("bandwidth", Dimension::bytes_per_s,
                           "Byte/s a direction; of both together when half duplex.")),
       with_default(quantity("latency", Dimension::seconds,
                             "Seconds that delay an arrival and occupy nothing."),
                    "0s"),
       with_default(quantity("setup", Dimension::seconds,
                             "Seconds for which a transfer occupies its copy engine before bytes "
                             "flow."),
                    "0s"),
       direction("down", "What differs away from the first node of `joins`."),
       direction("up", "What differs back to the first node of `joins`."),
       {.name = "together",
        .type = Type::number,
        .summary = "Byte/s of both directions together, of full duplex, as a multiple of "
                   "`bandwidth`; absent: no limit but their own.",
        .optional = true,
        .minimum_excluded = true},
       {.name = "copies",
        .type = Type::choice,
        .summary = "Whether the host memory of its copies is pinned, or pageable: then what "
                   "`pageable` says takes the place of the other rates.",
        .default_text = "pinned",
        .choices = {"pinned", "pageable"}},
       {.name = "pageable",
        .type = Type::mapping,
        .summary = "What differs where host memory is pageable.",
        .optional = true,
        .record = &pageable_record()},
       {.name = "duplex",
        .type = Type::choice,
        .summary = "Whether the two directions have the bandwidth each, or share it.",
        .default_text = "full",
        .choices = {"full", "half"}},
       {.name = "sharing",
        .type = Type::choice,
        .summary = "One link that all cross, or one for each node at the other end.",
        .default_text = "shared",
        .choices = {"shared", "private"}},
       with_default(quantity("idle", Dimension::watts,
                             "Watts of each direction (half duplex: of the link) at rest."),
                    "0W"),
       may_be_absent(quantity("busy", Dimension::watts,
                              "Watts at full bandwidth; where absent, as many as idle."))}};
  return record;
}

}  // namespace

const Record& platform_record() {
  static const Record record = {"platform",
                                "A machine: devices, memories and links.",
                                {{.name = "format", .summary = "sluice-platform/1"},
                                 text("name", "What to call it."),
                                 text("summary", "One sentence."),
                                 text("source", "Where the figures come from."),
                                 {.name = "assumed",
                                  .type = Type::list,
                                  .summary = "Paths of figures that no source gives, as "
                                             "devices.gpu.roofline: answers say what rests on "
                                             "them.",
                                  .optional = true},
                                 {.name = "devices",
                                  .type = Type::mapping,
                                  .summary = "By name.",
                                  .record = &device_record(),
                                  .map_of = true},
                                 {.name = "memories",
                                  .type = Type::mapping,
                                  .summary = "By name: what belongs to no device.",
                                  .optional = true,
                                  .record = &memory_record(),
                                  .map_of = true},
                                 {.name = "switches",
                                  .type = Type::list,
                                  .summary = "Names of nodes without memory that links join.",
                                  .optional = true},
                                 {.name = "links",
                                  .type = Type::mapping,
                                  .summary = "By name.",
                                  .optional = true,
                                  .record = &link_record(),
                                  .map_of = true}}};
  return record;
}

}  // namespace sluice
