// Tests training on devices that take turns: the results that they hand over to each other, and what they keep.
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

/// Layers A, B and C compute for 1, 2 and 3 ms. Their outputs have 2, 3 and 1 MB, so that copies take as many
/// milliseconds. Their weights have 4 bytes each.
const std::vector<Row> large = {{1, 4, 2'000'000}, {2, 4, 3'000'000}, {3, 4, 1'000'000}};
const std::vector<std::string> pair = {"platform.devices.gpu.count=2",
                                       "platform.links.host.sharing=private"};
const std::string one = "workload: {mode: training, batch: 1, micro_batch: 1, optimizer: none}\n" +
                        cut + "policy: {name: phased, in_flight: 1";

Plan trained(const std::string& fates, const std::string& overlap) {
  return make_plan(small_scenario(
      1000, large, one + ", overlap: " + overlap + "}\nfates: {strategy: " + fates + "}\n", pair));
}

double gap_of(const Plan& plan) {
  return std::get<Fact::Number>(find_fact(plan.facts, "gap")->value).value;
}

// Device 0 computes stages A and C, and device 1 computes stage B. The weights of A (4 ns) and the input (0.001 ms)
// arrive. Then the passes FA, FB, FC, BC, BB and BA take 1, 2, 3, 6, 4 and 2 ms. FB waits for A's output, for 2 x 2 ms.
// FC waits for B's output, for 2 x 3 ms. BB waits for the gradient of B's output, for 2 x 3 ms. BA waits for the
// gradient of A's output, for 2 x 2 ms. BC and BB make gradients of weights, too. These are saved after the results for
// the other device. At the end, the gradients of A's weights are saved (4 ns). The bound does not count all of the
// input's load.
TEST_CASE("phased training: each result for another device is waited for, and the bound says so") {
  const Plan plan = trained("optimal", "true");
  CHECK(makespan_of(plan) == ms(0.000004 + 0.001 + 18 + 20 + 0.000004));
  CHECK(gap_of(plan) >= 0);
  CHECK(gap_of(plan) <= 0.001 / 38);
}

// Without overlap, the weights of A and B are loaded twice, and those of C once. The gradients of all weights are
// saved. These 5 + 3 copies take 4 ns each.
TEST_CASE("phased training without overlap: the bound of optimal counts all copies") {
  const Plan plan = trained("optimal", "false");
  CHECK(makespan_of(plan) == ms(8 * 0.000004 + 0.001 + 18 + 20));
  CHECK(gap_of(plan) == Approx(0).margin(1e-9));
}

TEST_CASE("phased training: a device keeps the tensors of its own stages") {
  // The host sends the input, A's output for B, B's output for C, and the two gradients. Nothing else is loaded but
  // weights. So each backward pass finds the input of its stage.
  std::int64_t bytes = 0;
  for (const Action& action : trained("keep_all", "false").actions)
    if (action.kind == ActionKind::load) bytes += action.moved_bytes();
  CHECK(bytes == 1000 + 2 * (2'000'000 + 3'000'000) + 5 * 4);
}

/// Reads a scenario of two devices with 5500 bytes each. The weights of layer B stay on device 1, with their gradients:
/// 3200 bytes. Layers A, C and E are on device 0. The backward passes of A, C and E read 2800, 2500 and 1000 bytes that
/// their forward passes may keep.
Plan with_unlike_rooms() {
  return make_plan(read_scenario(parse_text(R"(
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: small
    layers:
      - {type: input, name: image, shape: [10]}
      - {type: operator, name: a, shape: [10], flop: 900, parameters: 5, keeps: nothing, kept_bytes: 2800, inputs: [image]}
      - {type: operator, name: b, shape: [10], flop: 9, parameters: 400, keeps: nothing, kept_bytes: 0, inputs: [a]}
      - {type: operator, name: c, shape: [10], flop: 60, parameters: 5, keeps: nothing, kept_bytes: 2500, inputs: [b]}
      - {type: operator, name: d, shape: [10], flop: 5, parameters: 5, keeps: nothing, kept_bytes: 10, inputs: [c]}
      - {type: operator, name: e, shape: [10], flop: 5, parameters: 5, keeps: nothing, kept_bytes: 1000, inputs: [d]}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {count: 2, rate: {float32: 1GFLOP/s}, memory: {capacity: 5500B}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, sharing: private}}
workload: {mode: training, batch: 1, optimizer: none}
stages: {cut: per_layer}
cost: {model: peak}
fates: {strategy: optimal}
policy: {name: phased, overlap: false, resident: [2]}
)",
                                            "small.yaml"),
                                 "small"));
}

// The forward passes take 9.79 us together, and the backward passes twice as long. The input takes 0.04 us. Four
// outputs and four gradients go to the other device, in 2 x 0.04 us each. The weights of A, C, D and E take turns:
// those of C and D are loaded twice, those of E once, and those of A again for its backward pass, in 0.02 us each. The
// gradients of these four layers are saved. Device 0 cannot hold the tensors that A, C and E would keep, but those of A
// and E fit. So C runs again, in 0.6 us. If each device had half of all room beside what stays, 3900 bytes, those of A
// could not be there during the backward pass of C. Before the micro-batch, the weights of A and B are loaded: 0.02 +
// 1.6 us.
TEST_CASE("phased training: the bounds of optimal know the room beside tensors that stay") {
  const Plan plan = with_unlike_rooms();
  constexpr double micro_batch_us = 3 * 9.79 + 0.04 + 8 * 0.08 + 6 * 0.02 + 4 * 0.02 + 0.6;
  CHECK(makespan_of(plan) == ms((micro_batch_us + 1.62) / 1000));
  CHECK(gap_of(plan) == Approx(0).margin(1e-9));
  CHECK(find_fact(plan.facts, "micro_batch_bound_s")->number()->value ==
        Approx(micro_batch_us * 1e-6).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
