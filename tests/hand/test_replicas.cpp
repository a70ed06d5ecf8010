// Replicas that share a link, with and without overlap.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Two replicas share a link of 1 GB/s. The first replica computes two batches, and the second replica computes one
/// batch. The layers have 8000 B and 200 B of weights, which take turns, and compute for 4 us and 0.1 us.
double seconds(const std::string& overlap, Plan* made = nullptr) {
  const Scenario scenario = test::small_scenario(
      400, {{0.004, 8000, 200}, {0.0001, 200, 4}},
      "workload: {batches_per_step: 3}\nstages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
      "policy: {name: data_parallel, replica: streamed, in_flight: 2" +
          overlap + "}\n",
      {"platform.devices.gpu.count=2"});
  const Plan plan = make_plan(scenario);
  if (made) *made = plan;
  return replay(plan).makespan;
}

TEST_CASE("replicas that share a link are also planned without overlap") {
  // Without overlap, in us:
  //  0.8    both inputs of 400 B have arrived over the shared link
  //  8.8    replica 0 has the weights of layer 0, and computes until 12.8
  // 16.8    replica 1 has the weights of layer 0, and computes until 20.8
  // 17.2    replica 0 has its second input, and computes until 21.2
  // 21.0    replica 1 has the weights of layer 1, computes until 21.1, and has saved its answer of 4 B at 21.104
  // 21.4    replica 0 has the weights of layer 1: its two computations end at 21.5 and, after the save of the first
  //         answer until 21.504, at 21.604. The second answer is saved at 21.608.
  const double alone = seconds(", overlap: false");
  CHECK(alone == Approx(21.608e-6).epsilon(1e-12));
  // With overlap, both replicas load the weights of layer 0 at the same time, each with half of the link. Replica 0 has
  // these weights after 16.8 us at the earliest, and computes twice on layer 0 until 24.8 us or later.
  CHECK(seconds(", overlap: true") >= 24.8e-6);
  // If the scenario does not give `overlap`, the faster plan is taken, and the answer names this choice.
  Plan plan;
  CHECK(seconds("", &plan) == alone);
  REQUIRE(find_fact(plan.facts, "chosen"));
  CHECK(*find_fact(plan.facts, "chosen")->text() == "overlap: false");
}

}  // namespace
}  // namespace sluice
