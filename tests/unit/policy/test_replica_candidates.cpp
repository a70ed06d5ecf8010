// Tests which plans are compared for replicas that share a link.
#include <catch2/catch.hpp>

#include "planning/run_seconds.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

// Two replicas share the link. Each of them makes its choices as if the other one did not slow it down, or as if it had
// half of the link during the whole run. The choices for 542836 bytes alone would lead to a slower run than the choices
// for 434282 bytes.
TEST_CASE("replicas that share a link also compare the choices for less memory") {
  const auto seconds = [](int bytes) {
    return run_seconds(make_plan(test::small_scenario(
        1560,
        {{0.45, 35360, 6360},
         {0.55, 21768, 12236},
         {0.25, 161940, 284},
         {0.65, 166524, 14888},
         {0.7, 78980, 816},
         {0.9, 33496, 5008}},
        "workload: {batches_per_step: 9, steps: 2}\nstages: {cut: per_layer}\n"
        "policy: {name: data_parallel, replica: streamed, outputs: discard}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.setup=3us",
         "platform.devices.gpu.count=2", "platform.links.host.sharing=shared",
         "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 2GB/s}",
         "platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"})));
  };
  CHECK(seconds(542836) <= seconds(434282));
}

}  // namespace
}  // namespace sluice
