// Tests policies against hand calculations. With 1 GFLOP/s and 1 GB/s, 1e6
// FLOP take 1 ms and 1 kB takes 1 us.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/bound.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Row;
using test::small_scenario;

/// Layers A, B and C take 1, 2 and 3 ms. The weights of A, B and C have 100, 200 and 300 kB. The outputs of A, B and C
/// have 2, 3 and 1 kB, and the input has 1 kB.
const std::vector<Row> abc = {{1, 100'000, 2000}, {2, 200'000, 3000}, {3, 300'000, 1000}};

double makespan_of(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  const double simulated = execute_isolated(plan).report.makespan;
  CHECK(simulated == Approx(replayed).epsilon(1e-9));
  return simulated;
}

double makespan_of(const Scenario& scenario) {
  return makespan_of(make_plan(scenario));
}

Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

std::string fact(const Plan& plan, const std::string& name, const std::string& of = {}) {
  const Fact* fact = find_fact(plan.facts, name, of);
  return fact ? fact->shown() : "none";
}

/// Values for those keys of policy `streamed` that a scenario may leave open.
const std::string by_hand =
    ", prefetch: 1, buffers: 2, pieces: whole}\nfates: {strategy: keep_all}\n";

const std::string four = "workload: {batches_per_step: 4}\n";

TEST_CASE(
    "resident, compute-bound: the run takes as long as the weights, one input, all computation and "
    "one output") {
  // The weights take 0.1 + 0.2 + 0.3 ms. Then the input takes 0.001 ms on the same link. The computation takes 4 x (1 +
  // 2 + 3) ms, and the last save takes 0.001 ms. All other transfers run during computations. So the run takes 0.6 +
  // 0.001 + 24 + 0.001 ms.
  const Plan plan = make_plan(small_scenario(1000, abc, four + "policy: {name: resident}\n"));
  CHECK(makespan_of(plan) == ms(24.602));
  CHECK(lower_bound(plan).seconds == ms(24.602));
}

TEST_CASE(
    "resident, link-bound: the run takes as long as the weights, all inputs, and then the last "
    "computation and the last output") {
  // With 1 TFLOP/s and 1 MB/s, the weights take 600 ms, and an input takes 1 ms. The four inputs come without a pause.
  // The last computation (0.006 ms) and a save (1 ms) follow. So the run takes 600 + 4 x 1 + 0.006 + 1 ms.
  const Plan plan = make_plan(small_scenario(
      1000, abc, four + "policy: {name: resident}\n",
      {"platform.devices.gpu.rate.float32=1TFLOP/s", "platform.links.host.bandwidth=1MB/s"}));
  CHECK(makespan_of(plan) == ms(605.006));
  CHECK(lower_bound(plan).seconds == ms(605.006));
}

TEST_CASE("resident without overlap takes the sum of the seconds of all actions") {
  // The weights take 0.6 ms. Each of 4 batches takes 0.001 + 6 + 0.001 ms for the input, the computation and the
  // answer.
  CHECK(makespan_of(small_scenario(
            1000, abc, four + "policy: {name: resident, overlap: false}\n")) == ms(24.608));
}

TEST_CASE("resident, several steps: the inputs of a step are loaded during the previous step") {
  // The weights take 0.6 ms, and the first input takes 0.001 ms. The 3 steps of 4 batches take 3 x 4 x 6 ms. The last
  // answer takes 0.001 ms.
  CHECK(makespan_of(small_scenario(1000, abc,
                                   "workload: {batches_per_step: 4, steps: 3}\n"
                                   "policy: {name: resident}\n")) == ms(72.602));
}

TEST_CASE(
    "resident, a batch of several micro-batches: the time of a micro-batch is the time of all "
    "its samples") {
  // A batch of 6 samples has two micro-batches of 3 samples, which take 3 x 6 ms each. An input has 3 kB.
  CHECK(makespan_of(small_scenario(1000, abc,
                                   "workload: {batch: 6, micro_batch: 3}\n"
                                   "policy: {name: resident}\n")) == ms(0.6 + 0.003 + 36 + 0.003));
}

TEST_CASE("streamed, prefetch 0: each group waits for its weights") {
  // Two inputs come first (0.002 ms), because there are two buffers. Then each layer loads its weights and computes two
  // micro-batches: 0.1 + 2 x 1 ms for A, 0.2 + 2 x 2 ms for B and 0.3 + 2 x 3 ms for C. A step takes 12.6 ms. There are
  // two steps. The inputs of the second step are loaded during computations. The last save takes 0.001 ms.
  CHECK(makespan_of(small_scenario(
            1000, abc,
            "workload: {batches_per_step: 2, steps: 2}\n"
            "stages: {cut: per_layer}\n"
            "policy: {name: streamed, in_flight: 2, prefetch: 0, resident: none}\n")) ==
        ms(0.002 + 2 * 12.6 + 0.001));
}

TEST_CASE("streamed, prefetch 1: weights are loaded while the previous group computes") {
  // The loads of two inputs and of A's weights take 0.002 + 0.1 ms. Then the 2 steps of 12 ms are computed without a
  // pause, and the last save takes 0.001 ms. The lower bound equals this makespan.
  const Plan plan = make_plan(small_scenario(1000, abc,
                                             "workload: {batches_per_step: 2, steps: 2}\n"
                                             "stages: {cut: per_layer}\n"
                                             "policy: {name: streamed, in_flight: 2" +
                                                 by_hand));
  CHECK(makespan_of(plan) == ms(24.103));
  CHECK(lower_bound(plan).seconds == ms(24.103));
}

TEST_CASE(
    "streamed: runs with prefetch 0, 1 and 2 take different times when the weights of one "
    "group take long to load") {
  // C's weights take 5 ms. One step has two micro-batches. A, B and C compute for 2, 4 and 6 ms. Both inputs together
  // take 0.002 ms.
  //   With prefetch 0, the run takes 0.002 + 0.1 + 2 + 0.2 + 4 + 5 + 6 + 0.001 = 17.303 ms.
  //   With prefetch 1, the load of C's weights starts when A has been computed, at 2.102 ms, and ends at 7.102 ms. B
  //   ends earlier, at 6.102 ms. So the run takes 7.102 + 6 + 0.001 = 13.103 ms.
  //   With prefetch 2, the load of C's weights starts after the load of B's weights. It ends at about 5.3 ms, before B
  //   ends. Here the plan can list A's weights before the second input, so that A waits for only one input. So the run
  //   takes 0.001 + 0.1 + 12 + 0.001 ms.
  std::vector<Row> rows = abc;
  rows[2].weight_bytes = 5'000'000;
  const double expected[] = {17.303, 13.103, 12.102};
  for (int prefetch : {0, 1, 2})
    CHECK(makespan_of(small_scenario(1000, rows,
                                     "workload: {batches_per_step: 2}\nstages: {cut: per_layer}\n"
                                     "fates: {strategy: keep_all}\npolicy: {name: streamed, "
                                     "in_flight: 2, buffers: 2, pieces: whole, prefetch: " +
                                         std::to_string(prefetch) + "}\n")) ==
          ms(expected[prefetch]));
}

TEST_CASE("streamed, link-bound: the link is never idle") {
  // With 1 TFLOP/s, two micro-batches take 0.002 ms in A, 0.004 ms in B and 0.006 ms in C. In each of 2 steps, the link
  // transfers weights for 0.6 ms and inputs for 0.002 ms. Then the last group computes for 0.006 ms. During this
  // computation, the first answer is saved. The last save takes 0.001 ms.
  const Plan plan = make_plan(small_scenario(1000, abc,
                                             "workload: {batches_per_step: 2, steps: 2}\n"
                                             "stages: {cut: per_layer}\n"
                                             "policy: {name: streamed, in_flight: 2" +
                                                 by_hand,
                                             {"platform.devices.gpu.rate.float32=1TFLOP/s"}));
  CHECK(makespan_of(plan) == ms(2 * 0.602 + 0.006 + 0.001));
  CHECK(lower_bound(plan).seconds == ms(2 * 0.602 + 0.006 + 0.001));
}

TEST_CASE(
    "streamed without overlap takes the sum of the seconds of all actions: weights once per pass, "
    "all other actions once per micro-batch") {
  // There are 3 micro-batches, and at most 2 are in flight. So the weights are loaded twice, in 2 x 0.6 ms. The inputs,
  // computations and answers of the three micro-batches take 3 x (0.001 + 6 + 0.001) ms.
  const Plan plan = make_plan(
      small_scenario(1000, abc,
                     "workload: {batches_per_step: 3}\nstages: {cut: per_layer}\n"
                     "policy: {name: streamed, in_flight: 2, overlap: false, resident: none}\n"));
  CHECK(makespan_of(plan) == ms(2 * 0.6 + 3 * 6.002));
  CHECK(fact(plan, "passes_per_step") == "2");
  CHECK(fact(plan, "weight_passes", "0") == "2");
}

TEST_CASE("streamed, discarded outputs are not saved") {
  CHECK(makespan_of(small_scenario(
            1000, abc,
            "workload: {batches_per_step: 3}\nstages: {cut: per_layer}\n"
            "policy: {name: streamed, in_flight: 3, overlap: false, outputs: discard}\n")) ==
        ms(0.6 + 3 * 6.001));
}

TEST_CASE("streamed: offloaded boundaries are saved once and loaded once") {
  // Without overlap, 2 micro-batches take 0.6 + 2 x (0.001 + 6 + 0.001) ms. Each of the 2 micro-batches also saves and
  // loads A's output (2 kB) and B's output (3 kB) once. This takes 2 x 2 x (0.002 + 0.003) ms.
  CHECK(makespan_of(small_scenario(1000, abc,
                                   "workload: {batches_per_step: 2}\nstages: {cut: per_layer}\n"
                                   "fates: {strategy: offload_all}\n"
                                   "policy: {name: streamed, in_flight: 2, overlap: false}\n")) ==
        ms(0.6 + 2 * 6.002 + 2 * 2 * 0.005));
}

TEST_CASE("streamed, one group: its weights are loaded once") {
  const Plan plan = make_plan(small_scenario(
      1000, abc,
      "workload: {batches_per_step: 2, steps: 2}\nstages: {cut: whole}\npolicy: {name: streamed, "
      "in_flight: 2" +
          by_hand));
  CHECK(makespan_of(plan) == ms(0.601 + 4 * 6 + 0.001));
  CHECK(fact(plan, "weight_passes", "0") == "1");
}

/// The input of a micro-batch has 1 kB. The outputs of A, B and C have 2 kB, 3 kB and 1 kB. At its last micro-batch,
/// group B needs 200 kB + 2 kB + in_flight x 3 kB. At its first micro-batch, group C needs more: 300 kB + in_flight x 3
/// kB + 1 kB. So N micro-batches fit if N x 3 kB <= capacity - 301 kB.
TEST_CASE("ten micro-batches in flight run, and eleven do not fit") {
  for (const bool overlap : {true, false}) {
    const auto planned = [&](int in_flight) {
      return make_plan(small_scenario(
          1000, abc,
          "workload: {batches_per_step: 100}\nstages: {cut: per_layer}\nfates: {strategy: "
          "keep_all}\npolicy: {name: streamed, pieces: whole, buffers: 1, prefetch: " +
              std::to_string(overlap) + ", overlap: " + (overlap ? "true" : "false") +
              ", in_flight: " + std::to_string(in_flight) + "}\n",
          {"platform.devices.gpu.memory.capacity=331kB"}));
    };
    const Plan plan = planned(10);  // (331 kB - 301 kB) / 3 kB = 10
    CHECK(fact(plan, "passes_per_step") == "10");
    CHECK_NOTHROW(makespan_of(plan));
    CHECK_THROWS_WITH(
        planned(11),
        Catch::Contains("the greatest number of micro-batches in flight that fits: 10"));
  }
}

TEST_CASE("the policy and the replay agree on which scenarios fit") {
  // The test makes a plan for 1 GB, and runs it with a smaller capacity. This run must end in a deadlock exactly if the
  // policy refuses the scenario with the smaller capacity.
  const std::string text =
      "workload: {batches_per_step: 20}\nstages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
      "policy: {name: streamed, overlap: false, in_flight: ";
  for (int kilobytes = 305; kilobytes < 365; kilobytes += 3) {
    const std::int64_t most = std::min((kilobytes - 301) / 3, 20);
    const auto planned = [&](std::int64_t in_flight, const std::string& capacity) {
      return make_plan(small_scenario(1000, abc, text + std::to_string(in_flight) + "}\n",
                                      {"platform.devices.gpu.memory.capacity=" + capacity}));
    };
    const auto runs = [&](std::int64_t in_flight) {
      Plan plan = planned(in_flight, "1GB");
      plan.pools.front().capacity = kilobytes * 1000;
      return !blocks(plan);
    };
    INFO(kilobytes << " kB: " << most);
    const std::string capacity = std::to_string(kilobytes) + "kB";
    CHECK(runs(most));
    CHECK_NOTHROW(planned(most, capacity));
    if (most == 20) continue;
    CHECK_FALSE(runs(most + 1));
    CHECK_THROWS_AS(planned(most + 1, capacity), Infeasible);
  }
}

TEST_CASE("a prefetch into a nearly full pool waits for room and does not block the run") {
  // The memory has 304 kB. C's weights (300 kB), input (3 kB) and output (1 kB) leave no room for A's weights of 100
  // kB. A and B are the only two layers whose weights fit together (300 kB). But these weights, the input (1 kB) and
  // A's output (2 kB) leave no room for B's output of 3 kB.
  const std::string text =
      "workload: {batches_per_step: 1, steps: 3}\nstages: {cut: per_layer}\n"
      "policy: {name: streamed, in_flight: 1, prefetch: ";
  const std::vector<std::string> tight = {"platform.devices.gpu.memory.capacity=304kB"};
  for (int prefetch : {0, 1, 2, 3, 7}) {
    INFO("prefetch " << prefetch);
    const double with =
        makespan_of(small_scenario(1000, abc, text + std::to_string(prefetch) + "}\n", tight));
    const double without = makespan_of(small_scenario(1000, abc, text + "0}\n", tight));
    CHECK(with <= without * (1 + 1e-12));
  }
}

TEST_CASE("at every capacity, a plan that fits without prefetch does not block with prefetch") {
  for (int kilobytes = 304; kilobytes < 640; kilobytes += 7)
    for (int prefetch : {1, 2, 4}) {
      INFO(kilobytes << " kB, prefetch " << prefetch);
      CHECK_NOTHROW(check(make_plan(small_scenario(
          1000, abc,
          "workload: {batches_per_step: 5, steps: 2}\nstages: {cut: per_layer}\n"
          "policy: {name: streamed, prefetch: " +
              std::to_string(prefetch) + "}\n",
          {"platform.devices.gpu.memory.capacity=" + std::to_string(kilobytes) + "kB"}))));
    }
}

TEST_CASE(
    "a prefetch over more than a whole step loads a group's own weights again, and does not block "
    "the run") {
  for (int prefetch = 0; prefetch <= 12; ++prefetch)
    for (int kilobytes = 304; kilobytes < 700; kilobytes += 11) {
      INFO("prefetch " << prefetch << ", " << kilobytes << " kB");
      CHECK_NOTHROW(check(make_plan(small_scenario(
          1000, abc,
          "workload: {batches_per_step: 3, steps: 4}\nstages: {cut: per_layer}\n"
          "policy: {name: streamed, in_flight: 1, buffers: 1, prefetch: " +
              std::to_string(prefetch) + "}\n",
          {"platform.devices.gpu.memory.capacity=" + std::to_string(kilobytes) + "kB"}))));
    }
}

}  // namespace
}  // namespace sluice
