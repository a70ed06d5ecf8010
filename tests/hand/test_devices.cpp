// Tests the policies `sharded` and `data_parallel` on two devices behind one host link. The times of transfers that
// share the link are computed by hand. The link `pair` connects the two devices. A device has 1 GFLOP/s. The host link
// has 1 GB/s: 1 kB takes 1 us if no other transfer uses the link.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Row;

/// Layers A, B and C take 1, 2 and 3 ms. The weights of A, B and C have 100, 200 and 300 kB. The outputs of A, B and C
/// have 2, 3 and 1 kB, and the input has 1 kB.
const std::vector<Row> abc = {{1, 100'000, 2000}, {2, 200'000, 3000}, {3, 300'000, 1000}};

double makespan(const std::string& text, std::vector<std::string> overrides, bool shared) {
  overrides.insert(
      overrides.begin(),
      {"platform.devices.gpu.count=2",
       std::string("platform.links={host: {joins: [host, gpu], bandwidth: 1GB/s, "
                   "sharing: ") +
           (shared ? "shared" : "private") + "}, pair: {joins: [gpu0, gpu1], bandwidth: 1GB/s}}"});
  const Plan plan =
      make_plan(test::small_scenario(1000, abc, "stages: {cut: per_layer}\n" + text, overrides));
  check(plan);
  return execute_isolated(plan).report.makespan;
}

Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

TEST_CASE("sharded: batches go through both devices one after the other") {
  // A and B are on gpu0, and C is on gpu1. Each device loads 300 kB of weights over the shared link. All weights have
  // arrived at 0.6 ms. Then the input of gpu0 takes 0.001 ms. A batch takes 1 + 2 ms on gpu0, 0.003 ms for B's 3 kB
  // over the link `pair`, and 3 ms on gpu1. There are four batches, and the last answer takes 0.001 ms. The other
  // inputs are loaded during computations.
  const std::string text = "workload: {batches_per_step: 4}\npolicy: {name: sharded}\n";
  CHECK(makespan(text, {}, /*shared=*/true) == ms(0.601 + 4 * 6.003 + 0.001));
  // With private links, the weights of gpu0 take 0.3 ms, and gpu1 loads its weights at the same time.
  CHECK(makespan(text, {}, /*shared=*/false) == ms(0.301 + 4 * 6.003 + 0.001));
}

TEST_CASE("sharded: several steps follow each other without a pause") {
  CHECK(makespan("workload: {batches_per_step: 2, steps: 3}\npolicy: {name: sharded}\n", {},
                 true) == ms(0.601 + 6 * 6.003 + 0.001));
}

TEST_CASE("sharded without overlap takes the sum of the seconds of all actions") {
  // The weights take 0.6 ms. Each batch takes 0.001 ms for the input, 6 ms for the computation, 0.003 ms for the
  // transfer between the devices, and 0.001 ms for the answer.
  CHECK(makespan("workload: {batches_per_step: 4}\npolicy: {name: sharded, overlap: false}\n", {},
                 true) == ms(0.6 + 4 * (0.001 + 6.003 + 0.001)));
}

TEST_CASE("sharded on listed devices: a tensor that stays on a device does not cross a link") {
  // All stages are on gpu1. So no tensor crosses the link `pair`.
  CHECK(makespan("workload: {batches_per_step: 4}\n"
                 "policy: {name: sharded, devices: [gpu1, gpu1, gpu1]}\n",
                 {}, /*shared=*/true) == ms(0.601 + 4 * 6 + 0.001));
  // A and C are on gpu0, and B is on gpu1. A's output (2 kB) and B's output (3 kB) cross the link `pair` in 0.005
  // ms. The 200 kB of weights for gpu1 come at half the rate, until 0.4 ms. At this time, gpu0 has 200 kB of its 400
  // kB. The last 200 kB arrive at the full rate, until 0.6 ms.
  CHECK(makespan("workload: {batches_per_step: 4}\n"
                 "policy: {name: sharded, devices: [gpu0, gpu1, gpu0]}\n",
                 {}, /*shared=*/true) == ms(0.601 + 4 * 6.005 + 0.001));
}

TEST_CASE("data_parallel resident, link-bound: both devices' bytes go over one link") {
  // With 1 TFLOP/s and 1 MB/s, the weights of one device take 600 ms. On the shared link, both devices load at half the
  // rate, until 1200 ms. Then two inputs per device, 4 inputs in total, take until 1204 ms. The last computation takes
  // 0.006 ms, and the last two answers together take 2 ms. The earlier answers were saved from 1202.006 ms to 1204.006
  // ms.
  const std::string text =
      "workload: {batches_per_step: 4}\npolicy: {name: data_parallel, replica: resident}\n";
  const std::string two_buffers =
      "workload: {batches_per_step: 4}\n"
      "policy: {name: data_parallel, replica: resident, buffers: 2, transfers: together}\n";
  const std::vector<std::string> fast = {"platform.devices.gpu.rate.float32=1TFLOP/s",
                                         "platform.links.host.bandwidth=1MB/s"};
  CHECK(makespan(two_buffers, fast, /*shared=*/true) == ms(1200 + 4 + 0.006 + 2));
  // `text` leaves choices open, and Sluice makes them for both devices together. One device has its last input at 1203
  // ms, the other device at 1204 ms. So the first device has saved its last answer when the other device begins to
  // save. No plan can be faster, because all bytes must be loaded before the last computation, and the last answer is
  // saved after this computation.
  CHECK(makespan(text, fast, /*shared=*/true) == ms(1200 + 4 + 0.006 + 1));
  // With private links, the run takes 600 ms for weights, 2 ms for two inputs, 0.006 ms for a computation, and 1 ms for
  // the last answer. The first answer was saved earlier.
  CHECK(makespan(text, fast, /*shared=*/false) == ms(600 + 2 + 0.006 + 1));
}

TEST_CASE(
    "data_parallel streamed, compute-bound: only the first loads and last saves are not hidden") {
  // Each device loads two inputs and A's weights. At half the rate, these loads take 0.204 ms instead of 0.102 ms. Then
  // each device computes for 12 ms per step without a pause. The weights of B and C arrive in time even at half the
  // rate. Together, the last answers of the two devices take 0.002 ms.
  CHECK(makespan("workload: {batches_per_step: 4, steps: 2}\n"
                 "fates: {strategy: keep_all}\npolicy: {name: data_parallel, replica: streamed, "
                 "in_flight: 2, prefetch: 1, buffers: 2, pieces: whole}\n",
                 {}, /*shared=*/true) == ms(0.204 + 2 * 12 + 0.002));
}

TEST_CASE(
    "data_parallel with an odd number of batches: one device computes one batch more than "
    "the other device") {
  // The run of three batches is compute-bound, and gpu0 computes two of the batches. The weights of both devices come
  // at half the rate, until 1.2 ms. Then the first input of each device takes 0.002 ms at half the rate. The second
  // input of gpu0 is loaded during the computation of the first input. So gpu0 takes 1.202 + 2 x 6 + 0.001 ms.
  CHECK(makespan("workload: {batches_per_step: 3}\n"
                 "policy: {name: data_parallel, replica: resident, transfers: together}\n",
                 {}, /*shared=*/true) == ms(1.202 + 12 + 0.001));
}

TEST_CASE("the device of a replica cannot be given, and the parameters of a replica are checked") {
  CHECK_THROWS_WITH(makespan("policy: {name: data_parallel, replica: resident, device: gpu0}\n", {},
                             /*shared=*/true),
                    Catch::Contains("'devices'"));
  CHECK_THROWS_WITH(makespan("policy: {name: data_parallel, replica: resident, prefetch: 1}\n", {},
                             /*shared=*/true),
                    Catch::Contains("unknown key 'prefetch'"));
  CHECK_THROWS_WITH(makespan("policy: {name: sharded, devices: [gpu0]}\n", {}, /*shared=*/true),
                    Catch::Contains("give one device per stage"));
}

}  // namespace
}  // namespace sluice
