// The record of a link in a platform document: which keys it may have, and what they mean.
#include "document/key.hpp"
#include "platform/link_rates.hpp"

namespace sluice {
namespace {

Field bandwidth_of_a_direction() {
  return Key::quantity(
             "bandwidth", Dimension::bytes_per_s,
             "The bandwidth in byte/s. By default, this is the link's bandwidth, or the share of it that the "
             "key `share` gives.")
      .or_absent()
      .more_than(0);
}

Field share_of_the_bandwidth() {
  return Key::number(
             "share",
             "The bandwidth as a share of the link's bandwidth. If the link's bandwidth is changed, "
             "so is this bandwidth.")
      .or_absent()
      .more_than(0);
}

/// Returns the record of one direction of a link. The rates that are given here replace those of the link.
const Record& direction_record() {
  static const Record record = {
      "direction of a link",
      "The rates of one direction. A rate that is missing here is the rate of the link.",
      {bandwidth_of_a_direction(), share_of_the_bandwidth(),
       Key::quantity(
           "setup", Dimension::seconds,
           "The seconds for which a transfer occupies its copy engine before its bytes flow. By default, they are the "
           "setup of the link.")
           .or_absent()}};
  return record;
}

Field direction(std::string name, std::string summary) {
  return Key::mapping(std::move(name), std::move(summary))
      .or_absent()
      .with_keys(direction_record());
}

/// Returns the record of copies of pageable memory. The rates that are given here replace those of the link.
const Record& pageable_record() {
  static const Record record = {
      "pageable copies of a link",
      "The rates of copies of pageable host memory. A rate that is missing here is the rate of the link.",
      {bandwidth_of_a_direction(), share_of_the_bandwidth(),
       Key::quantity("setup", Dimension::seconds,
                     "The setup of copies of pageable memory; by default the setup of the link.")
           .or_absent(),
       direction("down", "The direction away from the first node of `joins`."),
       direction("up", "The direction back to the first node of `joins`.")}};
  return record;
}

/// Returns the record of copies by the compute units. The rates that are given here replace those of the link.
const Record& synchronous_record() {
  static const Record record = {
      "synchronous copies of a link",
      "The rates of copies that the compute units make. The compute units do nothing else during such a copy. A "
      "bandwidth that is missing here is the bandwidth of the link.",
      {bandwidth_of_a_direction(), share_of_the_bandwidth(),
       Key::quantity("setup", Dimension::seconds,
                     "The setup of copies by the compute units; by default 0 s.")
           .or_absent(),
       direction("down", "The direction away from the first node of `joins`."),
       direction("up", "The direction back to the first node of `joins`.")}};
  return record;
}

}  // namespace

const Record& link_record() {
  static const Record record = {
      "link",
      "A connection that joins devices, memories and switches.",
      {Key::list(
           "joins",
           "The first name is the node at one end, and the other names are the nodes at the other end. The name of a "
           "device with a count stands for all these devices."),
       Key::quantity(
           "bandwidth", Dimension::bytes_per_s,
           "The bandwidth of each direction in byte/s, or of both directions together if the link is half duplex.")
           .more_than(0),
       Key::quantity(
           "latency", Dimension::seconds,
           "The seconds from the end of a transfer to the arrival of its data. In this time, the transfer does not "
           "occupy the link or its copy engine.")
           .by_default("0s"),
       Key::quantity("setup", Dimension::seconds,
                     "The seconds for which a transfer occupies its copy engine before bytes flow.")
           .by_default("0s"),
       direction(
           "down",
           "The rates of the direction away from the first node of `joins`, if they differ from the rates of the "
           "link."),
       direction(
           "up",
           "The rates of the direction back to the first node of `joins`, if they differ from the rates of the "
           "link."),
       Key::number(
           "together",
           "The bandwidth of both directions of a full-duplex link together, as a multiple of `bandwidth`. By default "
           "there is no limit for both directions together.")
           .or_absent()
           .more_than(0),
       Key::choice(
           "copies", {"pinned", "pageable"},
           "Whether host memory is pinned or pageable. If host memory is pageable, the rates under `pageable` replace "
           "the rates of the link.")
           .by_default("pinned"),
       Key::mapping(
           "pageable",
           "The rates of copies of pageable host memory, if they differ from the rates of the link.")
           .or_absent()
           .with_keys(pageable_record()),
       Key::mapping(
           "synchronous",
           "The rates of copies by all compute units, if they differ from the rates of the link.")
           .or_absent()
           .with_keys(synchronous_record()),
       Key::choice("duplex", {"full", "half"},
                   "Whether each direction has the whole bandwidth, or both directions share it.")
           .by_default("full"),
       Key::choice(
           "sharing", {"shared", "private"},
           "shared: all nodes use one link; private: each node but the first of `joins` has a link of its own "
           "to the first node.")
           .by_default("shared"),
       Key::quantity(
           "idle", Dimension::watts,
           "The watts that each direction takes at rest. If the link is half duplex, these are the watts of "
           "the whole link.")
           .by_default("0W"),
       Key::quantity(
           "busy", Dimension::watts,
           "The watts that each direction takes at full bandwidth; by default the watts of `idle`.")
           .or_absent()}};
  return record;
}

}  // namespace sluice
