// Tests which plans are compared for replicas that share a link.
#include <catch2/catch.hpp>
#include <limits>
#include <utility>

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

TEST_CASE("replicas of long steps also compare the choices for less memory") {
  // A step has 12 layers and 24 batches. The choices that a replica alone makes for 911438 bytes lead to a slower run
  // of both replicas than the choices for 797516 bytes.
  const auto seconds = [](int bytes) {
    const Plan plan = make_plan(test::small_scenario(
        13064,
        {{0.975, 66960, 12156},
         {0.55, 208452, 11316},
         {0.825, 7600, 13772},
         {0.725, 203412, 15456},
         {0.375, 170124, 852},
         {0.25, 29676, 6092},
         {0.75, 227656, 4040},
         {0.6, 142540, 1672},
         {0.9, 65360, 216},
         {0.325, 106992, 4580},
         {0.275, 227396, 12548},
         {0.6, 41836, 12484}},
        "workload: {batches_per_step: 24, steps: 2}\nstages: {cut: per_layer}\n"
        "policy: {name: data_parallel, replica: streamed}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.setup=3us",
         "platform.devices.gpu.count=2", "platform.links.host.sharing=shared",
         "platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"}));
    CHECK(find_fact(plan.facts, "beaten_bound") == nullptr);
    return run_seconds(plan);
  };
  const double least = seconds(797'516);
  CHECK(least < 0.1785);
  CHECK(seconds(911'438) <= least * (1 + 1e-9));
  CHECK(seconds(1'500'000) <= least * (1 + 1e-9));
}

/// Returns the seconds of two replicas that share a link of 1 GB/s. Each replica computes three batches in two stages.
/// A stage computes for 2 ms. The weights of the stages have 2 MB and 1 MB, and an input has 2 MB.
double seconds_of_pair(const std::string& capacity) {
  return run_seconds(make_plan(test::small_scenario(
      2'000'000, {{2, 2'000'000, 2'000'000}, {2, 1'000'000, 2'000'000}},
      "workload: {batches_per_step: 6}\nstages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
      "policy: {name: data_parallel, replica: streamed, outputs: discard, pieces: whole}\n",
      {"platform.devices.gpu.count=2", "platform.devices.gpu.memory.capacity=" + capacity})));
}

TEST_CASE("with much memory, replicas on a shared link take a plan that needs less memory") {
  // Each replica loads 3 MB of weights and three inputs, which are 9 MB. So the link carries 18 MB, in 18 ms. Suppose
  // that an input is loaded last: then two stages compute it, until 22 ms. The times of the fastest plan, in ms:
  //   link          input of replica 0 until 2, input of replica 1 until 4, weights of stage 0 until 6 and 8, weights of
  //                 stage 1 until 9 and 10, second inputs until 12 and 14, third inputs until 16 and 18
  //   replica 0     computes its inputs from 6 to 8 and 9 to 11, from 12 to 16, and from 16 to 20
  //   replica 1     computes its inputs from 8 to 12, from 14 to 18, and from 18 to 22
  // This plan needs 9 MB on each device: the weights, and three tensors of 2 MB.
  CHECK(seconds_of_pair("9MB") == Approx(0.022).epsilon(1e-9));
  // A replica that runs alone takes 16 ms with each of several plans: it loads 4 MB, and then computes for 12 ms. Of
  // these plans, it prefers one that needs 13 MB. With this plan, both replicas together would take 24 ms.
  CHECK(seconds_of_pair("13MB") == Approx(0.022).epsilon(1e-9));
  CHECK(seconds_of_pair("30MB") == Approx(0.022).epsilon(1e-9));
}

/// Returns the plan of two replicas that train three layers in stages and share a link of 50 MB/s.
Plan training_pair(std::int64_t bytes, const std::string& policy) {
  return make_plan(test::small_scenario(
      308, {{0.525, 195704, 1920}, {0.6, 17144, 668}, {0.175, 33140, 3208}},
      "workload: {mode: training, batch: 10, micro_batch: 1, steps: 4, optimizer: adam}\n"
      "stages: {cut: per_layer}\npolicy: {name: data_parallel, " +
          policy + "}\n",
      {"platform.links.host.bandwidth=50MB/s", "platform.links.host.latency=7us",
       "platform.devices.gpu.count=2", "platform.links.host.sharing=shared",
       "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 100MB/s}",
       "platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"}));
}

// A replica that runs alone with half of the link's bandwidth is the fastest with loads that delay the other replica if
// the memory is large. So the ways of a replica are compared in runs of both replicas.
TEST_CASE("in training, replicas that share a link are never slower with more memory") {
  for (const std::string policy : {"replica: phased", "replica: streamed, all_reduce: off"}) {
    double before = std::numeric_limits<double>::infinity();
    for (const std::int64_t bytes : {850'000, 912'634, 1'000'000, 1'095'148, 1'500'000}) {
      INFO(policy << ", " << bytes << " B");
      const Plan plan = training_pair(bytes, policy);
      const double seconds = run_seconds(plan);
      CHECK(seconds <= before * (1 + 1e-9));
      CHECK(find_fact(plan.facts, "beaten_bound") == nullptr);
      before = seconds;
    }
  }
}

TEST_CASE("loads that the last step drops do not count in the lower bound of replicas") {
  // A step has one batch per replica, and the run has one step. Each replica loads 1.50 MB over its own link of 50
  // MB/s, in 30.05 ms. The loads that a further step would need are part of the plan, but they are dropped. If the
  // bound counted them, it would be 39.4 ms, and would rule out the fastest cut.
  const auto seconds = [](const std::string& stages) {
    return run_seconds(make_plan(test::small_scenario(
        9240,
        {{0.15, 228'668, 15'388},
         {0.925, 69'724, 8480},
         {0, 160'180, 11'120},
         {0.075, 141'380, 7812},
         {0.475, 239'244, 1676}},
        "workload: {mode: training, batch: 2, micro_batch: 1, steps: 1, optimizer: none}\n"
        "fates: {strategy: offload_all}\npolicy: {name: data_parallel, replica: phased}\n" +
            stages,
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.latency=7us",
         "platform.links.host.setup=3us", "platform.links.host.sharing=private",
         "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 2GB/s}",
         "platform.devices.gpu.count=2", "platform.devices.gpu.memory.capacity=1332502B"})));
  };
  const double given = seconds("stages: {cut: single_tensor}\n");
  CHECK(given < 0.0354);
  CHECK(seconds("") <= given * (1 + 1e-9));
}

TEST_CASE("replicas that share a link try many ways that are equally fast for one replica alone") {
  // More than 8 ways to list the loads are equally fast for a replica alone, but not for both. If only the 8 ways with
  // the fewest bytes were tried, the run would take 33.8 ms with 3 GFLOP/s, but 33.3 ms with 2.5 GFLOP/s.
  const auto seconds = [](const std::string& rate) {
    return run_seconds(make_plan(test::small_scenario(
        8316, {{0.8, 93'904, 4116}, {0.425, 209'588, 2872}},
        "workload: {mode: training, batch: 4, micro_batch: 1, steps: 4, optimizer: sgd}\n"
        "stages: {cut: per_layer}\nfates: {strategy: checkpoint}\n"
        "policy: {name: data_parallel, replica: phased}\n",
        {"platform.links.host.bandwidth=200MB/s", "platform.links.host.setup=3us",
         "platform.links.host.sharing=shared",
         "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 100MB/s}",
         "platform.devices.gpu.count=2", "platform.devices.gpu.memory.capacity=1303200B",
         "platform.devices.gpu.rate={float32: " + rate + "}"})));
  };
  const double slower_device = seconds("2500MFLOP/s");
  CHECK(slower_device < 0.0333);
  CHECK(seconds("3GFLOP/s") < slower_device);
}

// The replicas share no link, but they sum their gradients. With much memory, a replica that runs alone takes a way
// that is slower than others once it waits for the sums: 79.4 instead of 76.7 ms.
TEST_CASE("in training, replicas that sum gradients are never slower with more memory") {
  double before = std::numeric_limits<double>::infinity();
  for (const std::int64_t bytes : {869'856, 1'159'808, 2'000'000}) {
    INFO(bytes << " B");
    const Plan plan = make_plan(test::small_scenario(
        8000, {{0.575, 98'400, 2072}, {0.3, 184'760, 720}},
        "workload: {mode: training, batch: 2, micro_batch: 1, steps: 3, optimizer: adam}\n"
        "stages: {cut: per_layer}\npolicy: {name: data_parallel, replica: streamed}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.setup=3us",
         "platform.links.host.sharing=private",
         "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 100MB/s}",
         "platform.devices.gpu.count=2",
         "platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"}));
    const double seconds = run_seconds(plan);
    CHECK(seconds <= before * (1 + 1e-9));
    CHECK(find_fact(plan.facts, "beaten_bound") == nullptr);
    before = seconds;
  }
  CHECK(before < 0.0768);
}

// The devices have different rates. If each replica chose its way as if it ran alone, the way for more memory could delay
// the other replica: 8.54 ms with the first pair of memories, and 8.79 ms with the last.
TEST_CASE(
    "in training, replicas on devices with different rates are never slower with more memory") {
  double before = std::numeric_limits<double>::infinity();
  for (const auto& [gpu, b] :
       {std::pair(468'378, 608'891), std::pair(562'041, 608'891), std::pair(562'041, 730'653)}) {
    INFO(gpu << " B and " << b << " B");
    const Plan plan = make_plan(test::small_scenario(
        11'008, {{0.45, 182'508, 12'496}, {0.225, 121'248, 6064}},
        "workload: {mode: training, batch: 2, micro_batch: 1, steps: 1, optimizer: sgd}\n"
        "stages: {cut: per_layer}\nfates: {strategy: checkpoint}\n"
        "policy: {name: data_parallel, replica: phased}\n",
        {"platform.devices.b={rate: {float32: 500MFLOP/s}, memory: {capacity: " +
             std::to_string(b) + "B}}",
         "platform.links.host={joins: [host, gpu, b], bandwidth: 200MB/s, latency: 7us, sharing: "
         "shared}",
         "platform.links.pair={joins: [gpu, b], bandwidth: 2GB/s}",
         "platform.devices.gpu.memory.capacity=" + std::to_string(gpu) + "B"}));
    const double seconds = run_seconds(plan);
    CHECK(seconds <= before * (1 + 1e-9));
    CHECK(find_fact(plan.facts, "beaten_bound") == nullptr);
    before = seconds;
  }
  CHECK(before < 0.00661);
}

TEST_CASE("unequal replicas that share a link are not slower without a latency") {
  // One replica has four batches and the other has three. Without a latency, many of their transfers begin at the same
  // time.
  const auto seconds = [](const std::string& latency) {
    return run_seconds(make_plan(test::small_scenario(
        15'268, {{0.375, 206'956, 732}, {0.6, 233'912, 14'576}, {0.775, 218'796, 15'752}},
        "workload: {batches_per_step: 7, steps: 3}\nstages: {cut: per_layer}\nfates: keep_all\n"
        "policy: {name: data_parallel, replica: resident}\n",
        {"platform.links.host.bandwidth=200MB/s", "platform.links.host.latency=" + latency,
         "platform.devices.gpu.count=2", "platform.devices.gpu.memory.capacity=738034B"})));
  };
  CHECK(seconds("0us") <= seconds("5us"));
  CHECK(seconds("0us") < 0.0262);
}

TEST_CASE("replicas that sum gradients over links of their own use the rest of the memory") {
  // Each replica has its own link to host memory, and gradients use a third link. So a copy may begin whenever there is
  // room for it, and more room never makes an action start later. If the run of a replica stayed within the bytes that
  // its loads need, the run with 350 kB would take 21.7 ms.
  double before = std::numeric_limits<double>::infinity();
  for (const int bytes : {250'000, 300'000, 350'000, 414'116, 600'000}) {
    INFO(bytes << " B");
    const Plan plan = make_plan(test::small_scenario(
        3916, {{0, 136'660, 12'060}, {0.05, 41'420, 14'960}},
        "workload: {mode: training, batch: 2, micro_batch: 1, steps: 3, optimizer: adam}\n"
        "policy: {name: data_parallel, replica: streamed, all_reduce: after}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.links.host.sharing=private",
         "platform.links.pair={joins: [gpu0, gpu1], bandwidth: 2GB/s}",
         "platform.devices.gpu.count=2",
         "platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"}));
    const double seconds = run_seconds(plan);
    CHECK(seconds <= before * (1 + 1e-9));
    CHECK(find_fact(plan.facts, "beaten_bound") == nullptr);
    if (bytes == 350'000) CHECK(seconds < 0.0203);
    before = seconds;
  }
}

TEST_CASE("replicas of steps with very many batches also compare the choices for less memory") {
  // A step has 3 layers and 6700 batches.
  double before = std::numeric_limits<double>::infinity();
  for (const int bytes : {185'000, 200'000, 220'000, 262'144}) {
    INFO(bytes << " B");
    const Plan plan = make_plan(test::small_scenario(
        1560, {{0.45, 35'360, 6360}, {0.55, 21'768, 12'236}, {0.25, 161'940, 284}},
        "workload: {batches_per_step: 6700}\nstages: {cut: per_layer}\nfates: keep_all\n"
        "policy: {name: data_parallel, replica: streamed, outputs: discard, pieces: whole, buffers: 2}\n",
        {"platform.links.host.bandwidth=50MB/s", "platform.devices.gpu.count=2",
         "platform.links.host.sharing=shared",
         "platform.devices.gpu.memory.capacity=" + std::to_string(bytes) + "B"}));
    const double seconds = run_seconds(plan);
    CHECK(seconds <= before * (1 + 1e-9));
    // With only the choices for the whole memory, there would be a candidate with overlap and one without.
    const Fact* const candidates = find_fact(plan.facts, "chosen_from");
    REQUIRE(candidates);
    CHECK(candidates->number()->value > 2);
    before = seconds;
  }
  CHECK(before < 4.1935);
}

}  // namespace
}  // namespace sluice
