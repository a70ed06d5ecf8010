// Tests how the description of a device or a link is found in a platform's document, also for a device in a group, and
// for one of several devices with the same description.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "platform/written.hpp"

using namespace sluice;

TEST_CASE(
    "the name of a device or link leads to its position in the document, through counts "
    "and groups") {
  const Value document = parse_text(
      "devices: {gpu: {a: 1}, gpu2: {a: 2}}\n"
      "links: {rail: {a: 3}}\n"
      "groups: {node: {devices: {gpu: {a: 4}, cpu: {a: 5}}, links: {nvlink: {a: 6}}}}\n",
      "p.yaml");
  const auto devices = written_parts(document, "devices");
  const auto links = written_parts(document, "links");
  REQUIRE(devices.size() == 4);
  const auto path = [](const std::vector<WrittenPart>& parts, const char* name) {
    const WrittenPart* part = part_called(parts, name);
    return part ? part->path : "none";
  };
  CHECK(path(devices, "gpu") == "devices.gpu");
  CHECK(path(devices, "gpu7") == "devices.gpu");
  // The name gpu2 means the device that is written as gpu2, and not the third device of gpu.
  CHECK(path(devices, "gpu2") == "devices.gpu2");
  CHECK(path(devices, "node_cpu") == "groups.node.devices.cpu");
  CHECK(path(devices, "node12_gpu3") == "groups.node.devices.gpu");
  CHECK(path(devices, "node12_tpu") == "none");
  CHECK(path(devices, "nod_gpu") == "none");
  CHECK(path(devices, "node1") == "none");
  CHECK(path(links, "rail") == "links.rail");
  CHECK(path(links, "node0_nvlink") == "groups.node.links.nvlink");
  CHECK(part_called(links, "node0_nvlink")->keys->find("a")->text() == "6");
  CHECK(written_parts(parse_text("[1]", "l.yaml"), "devices").empty());
}
