// Tests replicas that share a link, with and without overlap. Also tests replicas that divide the weights into
// different pieces.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "plan/passes/merge.hpp"
#include "plan/text.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Runs two replicas that share a link of 1 GB/s, and returns the seconds of the run. The first replica computes two
/// batches, and the second replica computes one batch. The model has one layer, which has 8000 B of weights and
/// computes for 8 us. `keys` are further keys of the policy.
double seconds(const std::string& keys, Plan* made = nullptr) {
  const Scenario scenario = test::small_scenario(
      40, {{0.008, 8000, 4}},
      "workload: {batches_per_step: 3}\nstages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
      "policy: {name: data_parallel, replica: streamed, in_flight: 2" +
          keys + "}\n",
      {"platform.devices.gpu.count=2"});
  const Plan plan = make_plan(scenario);
  if (made) *made = plan;
  return replay(plan).makespan;
}

TEST_CASE("replicas that share a link are also planned without overlap") {
  // Without overlap, in us:
  //   8.0    all weights of replica 0 (8000 B) have arrived
  //   8.08   replica 0 has its first input of 40 B. The input shared the link with weights of replica 1.
  //          Replica 0 computes until 16.08, and has saved its answer of 4 B at 16.084
  //  16.04   replica 1 has its weights
  //  16.08   replica 1 has its input, and computes until 24.08
  //  16.124  replica 0 has its second input, computes until 24.124, and has saved its answer at 24.128
  const double alone = seconds(", overlap: false");
  CHECK(alone == Approx(24.128e-6).epsilon(1e-12));
  // With overlap, if transfers run at the same time, the link transfers weights to both replicas alternately. When replica
  // 0 has all its 8000 B, replica 1 has at least 4000 B. These 12,000 B take 12 us. Then replica 0 computes two batches,
  // until 12 + 2 x 8 = 28 us.
  CHECK(seconds(", overlap: true, transfers: together") >= 28e-6);
  // If transfers take turns, those of replica 0 come first where its data is needed first. In us: its weights and its
  // first input have arrived at 8.04, and those of replica 1 at 16.08. The second input of replica 0 arrives at 16.12 and
  // is computed until 24.12, and its answer is saved at 24.124.
  CHECK(seconds(", overlap: true") == Approx(24.124e-6).epsilon(1e-12));
  // If the scenario does not give `overlap`, plans with overlap and plans without overlap are compared.
  Plan given, open;
  seconds(", overlap: true", &given);
  CHECK(seconds("", &open) == Approx(24.124e-6).epsilon(1e-12));
  const auto candidates = [](const Plan& plan) {
    const Fact* const count = find_fact(plan.facts, "chosen_from");
    return count ? count->number()->value : 0;
  };
  CHECK(candidates(open) > candidates(given));
}

TEST_CASE("replicas choose the micro-batches in flight that hide the sums of their gradients") {
  // Each of two replicas has links of its own to host memory, and a link of 1 GB/s to the other replica. A forward pass
  // takes 1 ms, a backward pass 2 ms, and a load of an input 1.5 ms. The gradients have 2 MB. A replica sends them in
  // two halves, in 2 ms. The backward passes of the next batch wait for these sums. A replica has two micro-batches per
  // batch.
  Plan plan;
  const auto milliseconds = [&](const std::string& keys) {
    plan = make_plan(test::small_scenario(
        1'500'000, {{1, 2'000'000, 4}},
        "workload: {mode: training, batch: 4, micro_batch: 1, steps: 3, optimizer: none}\n"
        "stages: {cut: whole}\nfates: {strategy: keep_all}\n"
        "policy: {name: data_parallel, replica: streamed" +
            keys + "}\n",
        {"platform.devices.gpu.count=2", "platform.links.host.sharing=private",
         "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 1GB/s}"}));
    return replay(plan).makespan * 1e3;
  };
  // The weights have arrived at 2 ms, and the first input at 3.5 ms. With one micro-batch in flight, the next input
  // arrives during its backward pass. A batch takes 2 x (1 + 2) = 6 ms. Only one forward pass runs while gradients are
  // summed, so the replica then waits for 1 ms, in two of three batches. The last sums take 2 ms.
  CHECK(milliseconds(", in_flight: 1") == Approx(3.5 + 3 * 6 + 2 * 1 + 2).epsilon(1e-12));
  // With two in flight, the second forward pass of the run waits until 5 ms for its input, and so for 0.5 ms. From then
  // on, the forward passes hide all sums but the last. A replica alone, without sums, would take 0.5 ms longer than
  // with one in flight.
  CHECK(milliseconds(", in_flight: 2") == Approx(3.5 + 0.5 + 3 * 6 + 2).epsilon(1e-12));
  CHECK(milliseconds("") == milliseconds(", in_flight: 2"));
  milliseconds("");
  REQUIRE(find_fact(plan.facts, "chosen"));
  CHECK_THAT(*find_fact(plan.facts, "chosen")->text(), Catch::StartsWith("in_flight: 2"));
}

TEST_CASE(
    "replicas: the gap of 'optimal' compares the run of all replicas with the bound of one that runs alone") {
  // Four stages of 1 MB of weights take turns, so both replicas use the link of 1 GB/s for most of the run.
  const auto trained = [](const std::string& batch, const std::string& policy,
                          const std::string& gpus) {
    return make_plan(test::small_scenario(
        100'000,
        {{0.3, 1'000'000, 100'000},
         {0.2, 1'000'000, 80'000},
         {0.3, 1'000'000, 60'000},
         {0.2, 1'000'000, 4}},
        "workload: {mode: training, batch: " + batch + ", micro_batch: 1, optimizer: none}\n" +
            "stages: {cut: per_layer}\nfates: {strategy: optimal}\npolicy: {" + policy +
            ", in_flight: 2, resident: none}\n",
        {"platform.devices.gpu.memory.capacity=2700kB", "platform.devices.gpu.count=" + gpus}));
  };
  const auto gap = [](const Plan& plan, const std::string& replica) {
    for (const Fact& fact : plan.facts)
      if (fact.name == "gap" && fact.replica == replica) return fact.number()->value;
    return -1.0;
  };
  const Plan alone = trained("2", "name: streamed", "1");
  const Plan both = trained("4", "name: data_parallel, replica: streamed, all_reduce: off", "2");
  const double bound = replay(alone).makespan * (1 - gap(alone, ""));
  const double seconds = replay(both).makespan;
  REQUIRE(gap(alone, "") >= 0);
  CHECK(seconds > 1.2 * replay(alone).makespan);
  // A bound of a replica with half of the link does not hold for the run. The gap is that to a bound in which a replica
  // has the link for itself. Either a replica states it, or the plan of all replicas.
  CHECK(std::max(gap(both, "gpu0"), gap(both, "")) == Approx(1 - bound / seconds).epsilon(1e-9));
}

/// Returns a plan that loads the tensor `weights.0` to `device` over a link of 1 GB/s. The tensor has `bytes` bytes.
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

TEST_CASE("if replicas divide the same weights into different pieces, each loads its own pieces") {
  const Plan plan =
      merge({load_of("a", "60"), load_of("b", "30"), load_of("c", "30")}, {"a", "b", "c"});
  const ReplayResult result = replay(plan);
  REQUIRE(plan.pools.size() == 4);
  for (std::size_t p = 0; p < plan.pools.size(); ++p) {
    INFO(plan.pools[p].name);
    // The host holds the piece of replica a. Replicas b and c load the same piece, and the host holds it once.
    const std::int64_t bytes = plan.pools[p].name == "a"      ? 60
                               : plan.pools[p].name == "host" ? 90
                                                              : 30;
    CHECK(result.peaks[p] == bytes);
  }
}

// In each step, one replica computes three batches, and the other replica computes two batches. The
// two replicas keep different weights on their devices, so they divide the weights of a group into
// different pieces. The links are private, so neither replica delays the other.
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
