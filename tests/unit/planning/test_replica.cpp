// Moves a plan from one device to another device of the same kind. The moved plan must equal the plan that the policy
// makes for the second device.
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include "document/load.hpp"
#include "plan/text.hpp"
#include "planning/replica.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

Scenario pair(const std::string& policy, const std::string& device, const std::string& sharing,
              const std::vector<std::string>& further = {}) {
  std::vector<std::string> overrides = {
      "platform.devices.gpu.count=2", "platform.devices.gpu.busy=100W",
      "platform.links.host.sharing=" + sharing, "platform.links.host.latency=3us"};
  overrides.insert(overrides.end(), further.begin(), further.end());
  return test::small_scenario(
      4000, {{1, 1000, 4000}, {2, 3000, 8000}, {1, 0, 4000}},
      "workload: {mode: training, batch: 4, micro_batch: 1}\nstages: {cut: per_layer}\n"
      "policy: {name: " +
          policy + ", device: " + device + "}\nfates: {strategy: offload_all}\n",
      overrides);
}

/// Returns the lines of a plan's text. The lines before the prologue are sorted, because the order of pools and links
/// may depend on the device.
std::vector<std::string> lines(const Plan& plan) {
  std::istringstream text(to_text(plan));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::sort(lines.begin(), std::find(lines.begin(), lines.end(), "prologue:"));
  return lines;
}

TEST_CASE(
    "a plan that is moved to an equal device is the plan that the policy makes for that device") {
  for (const char* policy : {"resident", "streamed", "phased"})
    for (const char* sharing : {"shared", "private"}) {
      const Scenario first = pair(policy, "gpu0", sharing), second = pair(policy, "gpu1", sharing);
      REQUIRE(alike(first.platform, "gpu0", "gpu1"));
      CHECK(lines(moved(make_plan(first), first.platform, "gpu0", "gpu1")) ==
            lines(make_plan(second)));
    }
}

TEST_CASE("devices with different efficiencies or different links are not alike") {
  Platform platform = pair("resident", "gpu0", "private").platform;
  platform.devices[1].efficiency = 0.5;
  CHECK_FALSE(alike(platform, "gpu0", "gpu1"));
  platform = pair("resident", "gpu0", "private").platform;
  platform.channels[platform.path("host", "gpu1").channels.front()].bandwidth *= 2;
  CHECK_FALSE(alike(platform, "gpu0", "gpu1"));
}

/// Returns a platform of two cards. Each card has a second memory and a link to it. The links have the bandwidths
/// `first` and `second`.
Platform two_cards(const std::string& first, const std::string& second) {
  const std::string card =
      "{rate: {float32: 1TFLOP/s}, memory: [{capacity: 1MB, bandwidth: 1GB/s}, "
      "{name: ddr, capacity: 1MB, bandwidth: 1GB/s}]}";
  const std::string far =
      "{joins: [a, a_ddr], bandwidth: " + first + "}\n  far_b: {joins: [b, b_ddr], bandwidth: ";
  return read_platform(parse_text("format: sluice-platform/1\nname: two\ndevices:\n  a: " + card +
                                      "\n  b: " + card +
                                      "\nmemories: {host: {capacity: 1MB}}\nlinks:\n"
                                      "  host_a: {joins: [host, a], bandwidth: 10B/s}\n"
                                      "  host_b: {joins: [host, b], bandwidth: 10B/s}\n  far_a: " +
                                      far + second + "}\n",
                                  "two.yaml"));
}

TEST_CASE("devices whose second memories have different links are not alike", "[placement]") {
  CHECK(alike(two_cards("100B/s", "100B/s"), "a", "b"));
  CHECK_FALSE(alike(two_cards("100B/s", "1B/s"), "a", "b"));
}

}  // namespace
}  // namespace sluice
