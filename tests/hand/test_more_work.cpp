// A run with more work may be faster if loads share a link. This is so although nothing is left open, and although every
// action starts as early as its waits allow.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "plan/tables.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

// Five phases are on the devices gpu0, other, gpu1, gpu0 and other. Only the first phase computes, 1 s per sample. Links
// have 1 MB/s. The devices gpu0 and gpu1 share a link, and `other` has a link of its own.
Plan five_phases(int samples, const std::string& sharing) {
  return make_plan(test::small_scenario(
      1000,
      {{1000, 0, 1000},
       {0, 0, 1000},
       {0, 2'000'000, 1000},
       {0, 4'000'000, 1000},
       {0, 10'000'000, 1000}},
      "workload: {batch: " + std::to_string(samples) +
          ", micro_batch: 1}\n"
          "stages: {cut: per_layer}\nfates: keep_all\n"
          "phases: {activations: on_chip, devices: [gpu0, other, gpu1, gpu0, other]}\n"
          "policy: {name: phased, in_flight: 1, host_data: synthetic}\n",
      {"platform.devices.gpu.count=2",
       "platform.devices.other={rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}",
       "platform.links.host={joins: [host, gpu], bandwidth: 1MB/s" + sharing + "}",
       "platform.links.own={joins: [host, other], bandwidth: 1MB/s}"}));
}

TEST_CASE("phased: if loads share a link, a run with one more sample may be faster") {
  // The load of phase 2 (2 MB) begins at once. When phase 0 has ended, phase 1 and the load of phase 3 (4 MB) begin.
  // With one sample, phase 0 ends at 1 s. From then on the two loads share the link, so the last 1 MB of phase 2 takes
  // 2 s: phase 2 begins at 3 s. Then the load of phase 4 (10 MB) begins, so the run ends at 13 s.
  const Plan one = five_phases(1, "");
  CHECK(replay(one).makespan == Approx(13).epsilon(1e-9));
  // With two samples, phase 0 ends at 2 s, when the load of phase 2 has ended. So phase 2 also begins at 2 s, and the run
  // ends at 12 s.
  const Plan two = five_phases(2, "");
  CHECK(replay(two).makespan == Approx(12).epsilon(1e-9));
  CHECK(execute_isolated(one).report.makespan == Approx(13).epsilon(1e-9));
  CHECK(execute_isolated(two).report.makespan == Approx(12).epsilon(1e-9));
  CHECK(!PlanTables(one).contention_free());
}

TEST_CASE("phased: if no loads share a link, a run with one more sample is not faster") {
  // Each device has a link of its own. Phase 2 can begin at 2 s in both runs.
  for (const int samples : {1, 2}) {
    const Plan plan = five_phases(samples, ", sharing: private");
    CHECK(PlanTables(plan).contention_free());
    CHECK(replay(plan).makespan == Approx(12).epsilon(1e-9));
  }
  CHECK(replay(five_phases(3, ", sharing: private")).makespan == Approx(13).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
