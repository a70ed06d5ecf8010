// Tests in which order the transfers of replicas take turns on a shared link.
#include <catch2/catch.hpp>

#include "plan/text.hpp"
#include "planning/run_seconds.hpp"
#include "planning/turns.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Returns the seconds of two replicas on a shared link of 1 GB/s. The first replica has two batches, the second replica
/// has one. The weights have 2 MB, an input has 1 MB, and a batch computes for 4 ms.
double seconds_of_three_batches(const std::string& transfers) {
  return run_seconds(make_plan(test::small_scenario(
      1'000'000, {{4, 2'000'000, 1000}},
      "workload: {batches_per_step: 3}\nstages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
      "policy: {name: data_parallel, replica: streamed, outputs: discard, pieces: whole, in_flight: 2, "
      "resident: all, transfers: " +
          transfers + "}\n",
      {"platform.devices.gpu.count=2"})));
}

TEST_CASE("transfers that take turns may go in the order in which their data is needed") {
  // At the same time, the weights of both replicas take until 4 ms and the first inputs until 6 ms. Then the first replica
  // computes its two batches until 14 ms.
  CHECK(seconds_of_three_batches("together") == Approx(0.014).epsilon(1e-9));
  // All weights begin first in this run. In this order, both weights come until 4 ms, and the first input until 5 ms. So
  // the first replica would compute until 13 ms. But its weights and its input are needed first. If they come first, they
  // come until 3 ms, and this replica computes until 11 ms. The other replica gets its data until 6 ms, and computes until
  // 10 ms.
  CHECK(seconds_of_three_batches("in_turn") == Approx(0.011).epsilon(1e-9));
  CHECK(seconds_of_three_batches("auto") == Approx(0.011).epsilon(1e-9));
}

// Two replicas share a half-duplex link with a latency of 10 ms. Each of them computes three batches. All tensors are
// so small, and all computations so short, that they take less than a microsecond.
TEST_CASE(
    "transfers of a replica may come in a row, because each change of the stream costs a latency") {
  const auto seconds = [](const std::string& transfers) {
    return run_seconds(make_plan(test::small_scenario(
        100, {{0.0001, 100, 4}},
        "workload: {batches_per_step: 6}\nstages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
        "policy: {name: data_parallel, replica: streamed, pieces: whole, in_flight: 3, resident: all, "
        "transfers: " +
            transfers + "}\n",
        {"platform.devices.gpu.count=2", "platform.links.host.duplex=half",
         "platform.links.host.latency=10ms"})));
  };
  // At the same time, weights and inputs arrive at 10 ms, and the answers at 20 ms.
  CHECK(seconds("together") == Approx(0.020).epsilon(1e-3));
  // In turn, the data of the first replica arrive at 10 ms, and the data of the second replica at 20 ms. At the same
  // time, the replicas save their answers alternately. In this order, each of the six answers would wait until the
  // answer before it has arrived, so the run would take 10 + 6 x 10 = 70 ms. In rows, the answers of the first replica
  // arrive at 20 ms, and the answers of the second replica at 30 ms.
  CHECK(seconds("in_turn") == Approx(0.030).epsilon(1e-3));
}

// A copy takes 10 s alone. After its load, device a computes for 5 s and device b for 1 s. Then each saves its answer.
TEST_CASE("transfers may take turns in the order in which they are ready if they take turns") {
  const Plan plan = plan_from_text(R"(format: sluice-plan/2
name answers
iterations 1
link l bandwidth=10B/s
route r links=l
stream b.up kind=copy device=b
stream a.up kind=copy device=a
stream a.down kind=copy device=a
stream b.down kind=copy device=b
stream a.compute kind=compute device=a
stream b.compute kind=compute device=b
body:
a.load on=a.down kind=load flows=@r:100
b.load on=b.down kind=load flows=@r:100
a.work on=a.compute kind=forward seconds=5 waits=a.load
b.work on=b.compute kind=forward seconds=1 waits=b.load
b.save on=b.up kind=save flows=@r:100 waits=b.work
a.save on=a.up kind=save flows=@r:100 waits=a.work
)",
                                   "answers.plan");
  // At the same time, both loads take until 20 s. The link then waits until 21 s for the answer of b, and after that it
  // always carries data, until 41 s.
  CHECK(run_seconds(plan) == Approx(41));
  // If loads take turns, a loads until 10 s and computes until 15 s, and b loads until 20 s and computes until 21 s. So the
  // answer of a is ready first, and the link always carries data. The orders that come from the run above save the answer
  // of b first, from 21 to 31 s, and end at 41 s, too.
  const Turns turns = in_turn(plan);
  REQUIRE(turns.fastest);
  CHECK(turns.fastest->seconds() == Approx(40));
}

// Found by the property test about thirty explicit settings. With these explicit settings, an input crosses the link
// first, then the weights of the same replica. The chosen plan keeps all weights, and loads them first.
TEST_CASE("replicas that keep their weights begin as early as replicas that load them again") {
  const auto seconds = [](const std::string& rest) {
    return run_seconds(make_plan(test::small_scenario(
        10752, {{0.325, 239308, 13268}, {0.575, 111304, 6240}},
        "workload: {batches_per_step: 5, steps: 3}\nstages: {cut: per_layer}\n" + rest,
        {"platform.links.host.setup=3us", "platform.devices.gpu.count=2",
         "platform.devices.gpu.memory.capacity=439237B"})));
  };
  const double by_hand = seconds(
      "fates: {strategy: keep_all}\npolicy: {name: data_parallel, replica: streamed, in_flight: 3, "
      "prefetch: 1, pieces: whole, resident: none, buffers: 2, transfers: in_turn}\n");
  CHECK(seconds("policy: {name: data_parallel, replica: streamed}\n") <= by_hand * (1 + 1e-9));
}

}  // namespace
}  // namespace sluice
