// What a link of a platform document may contain.
#include "platform/fields.hpp"
#include "platform/link_rates.hpp"

namespace sluice {
namespace {

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

/// What copies by the compute units take instead.
const Record& synchronous_record() {
  static const Record record = {
      "synchronous copies of a link",
      "What differs where the compute units copy, and do nothing else meanwhile.",
      {bandwidth_of_a_direction(), share_of_the_bandwidth(),
       may_be_absent(quantity("setup", Dimension::seconds, "As that of the link; absent: none.")),
       direction("down", "Away from the first node of `joins`."),
       direction("up", "Back to the first node of `joins`.")}};
  return record;
}

}  // namespace

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
       {.name = "synchronous",
        .type = Type::mapping,
        .summary = "What differs where all compute units copy, rather than a copy engine beside "
                   "them.",
        .optional = true,
        .record = &synchronous_record()},
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

}  // namespace sluice
