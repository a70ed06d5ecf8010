// Replicas that share a link, with and without overlap, and replicas that divide the weights into different pieces.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "plan/passes/merge.hpp"
#include "plan/text.hpp"
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

/// Returns a plan that loads the weights `weights.0` of this many bytes to `device`, over a link of 1 GB/s.
Plan load_of(const std::string& device, const std::string& bytes) {
  return plan_from_text(
      "format: sluice-plan/2\nname load\niterations 0\npool " + device +
          " capacity=100B owner=" + device + "\npool host capacity=unlimited\nlink " + device +
          ".down bandwidth=1GB/s\nroute host>" + device + " links=" + device +
          ".down setup=0s latency=0s\nstream " + device + ".copy kind=copy device=" + device +
          "\ntensor weights.0 class=weight bytes=" + bytes + " home=host\n\nprologue:\nload on=" +
          device + ".copy kind=load moves=weights.0 route=host>" + device +
          " allocates=weights.0@" + device + "\n",
      "load.plan");
}

TEST_CASE("replicas that divide the same weights into different pieces load their own pieces") {
  const Plan plan =
      merge({load_of("a", "60"), load_of("b", "30"), load_of("c", "30")}, {"a", "b", "c"});
  const ReplayResult result = replay(plan);
  REQUIRE(plan.pools.size() == 4);
  for (std::size_t p = 0; p < plan.pools.size(); ++p) {
    INFO(plan.pools[p].name);
    // The host holds the piece of a, and once the piece that b and c load.
    const std::int64_t bytes = plan.pools[p].name == "a"      ? 60
                               : plan.pools[p].name == "host" ? 90
                                                              : 30;
    CHECK(result.peaks[p] == bytes);
  }
}

// One replica computes three batches of a step and the other one two. They keep different weights, so they divide the
// weights of a group into different pieces. The links are private, so each replica takes as long as if it ran alone.
TEST_CASE("a replica with fewer batches takes as long as if it ran alone") {
  const auto seconds = [](const std::string& text, const std::vector<std::string>& more) {
    std::vector<std::string> machine = {"platform.links.host.bandwidth=50MB/s",
                                        "platform.links.host.setup=3us",
                                        "platform.devices.gpu.memory.capacity=873609B"};
    machine.insert(machine.end(), more.begin(), more.end());
    const ReplayResult result =
        replay(make_plan(test::small_scenario(2272,
                                              {{0.85, 165936, 2356},
                                               {0.125, 140736, 4340},
                                               {0.875, 154040, 3040},
                                               {0.4, 173552, 14260},
                                               {0.725, 147800, 1916},
                                               {0.075, 221636, 10832},
                                               {0.85, 162172, 7344}},
                                              "stages: {cut: per_layer}\n" + text, machine)));
    CHECK(!result.blocking);
    return result.makespan;
  };
  const std::string alone = "policy: {name: streamed}\nworkload: {steps: 4, batches_per_step: ";
  const double longest = std::max(seconds(alone + "3}\n", {}), seconds(alone + "2}\n", {}));
  CHECK(seconds("policy: {name: data_parallel, replica: streamed}\n"
                "workload: {steps: 4, batches_per_step: 5}\n",
                {"platform.devices.gpu.count=2", "platform.links.host.sharing=private"}) ==
        Approx(longest).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
