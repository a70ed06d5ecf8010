// Tests a training step whose memory is so small that loads must be listed where they are needed.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

// With 1 GFLOP/s and 1 GB/s, a FLOP takes 1 ns, and so does a byte. A parameter or an element has 4 B. All backward
// passes take twice as long as their forward passes. The weights of a, b and c have 100, 140 and 60 B. `a` keeps 398 B.
constexpr const char* three_stages = R"(
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: three stages
    layers:
      - {type: input, name: image, shape: [19]}
      - {type: operator, name: a, shape: [55], flop: 14, parameters: 25, keeps: inputs, kept_bytes: 398, inputs: [image]}
      - {type: operator, name: b, shape: [35], flop: 14, parameters: 35, keeps: nothing, inputs: [a]}
      - {type: operator, name: c, shape: [66], flop: 6, parameters: 15, keeps: output, inputs: [b, image]}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 986B}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, duplex: full}}
workload: {mode: training, batch: 1, optimizer: none}
stages: per_layer
cost: peak
)";

double nanoseconds(const char* scenario, const std::string& keys) {
  return 1e9 * replay(make_plan(read_scenario(parse_text(scenario + keys, "late.yaml"), "late")))
                   .makespan;
}

TEST_CASE("a load gets memory only after the computations that are listed before it") {
  // The image and the weights of a arrive at 176. The forward pass of a ends at 946, and 398 B are saved until 1344. If
  // the weights of c were listed before the forward pass of b, they would take its memory: the image, the weights of b,
  // the outputs of a and b (76 + 140 + 220 + 140 B), and the 398 B that are being saved leave only 12 B. So b would
  // wait until 1344. But they are listed after b, so b runs from 946 to 1436, and they are loaded from 1344 to 1404.
  // Then c runs forward until 1832 and backward until 2624, and b runs backward until 3604. Meanwhile, the image and
  // the weights of a come again. The 398 B have room only after that, and arrive at 4002. If they were first in the
  // list, the others would come after them, in 176 more. Then a runs backward until 5542, and its gradients are saved
  // in 100.
  for (const char* fates : {"fates: offload_all\n", "fates: optimal\n"})
    CHECK(nanoseconds(three_stages, std::string("policy: {name: streamed, resident: none}\n") +
                                        fates) == Approx(5642).epsilon(1e-9));
}

// Both b and c read the output of a. The weights of a, b and c have 8, 188 and 60 B.
constexpr const char* weights_first = R"(
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: weights first
    layers:
      - {type: input, name: image, shape: [61]}
      - {type: operator, name: a, shape: [10], flop: 1, parameters: 2, keeps: nothing, inputs: [image]}
      - {type: operator, name: b, shape: [15], flop: 15, parameters: 47, keeps: inputs, inputs: [a]}
      - {type: operator, name: c, shape: [9], flop: 18, parameters: 15, keeps: nothing, inputs: [a]}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: 516B}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, duplex: full}}
workload: {mode: training, batch: 1, optimizer: none}
stages: per_layer
policy: {name: streamed, resident: none}
cost: peak
)";

TEST_CASE("weights may come before a saved activation that the same operation needs") {
  // The image and the weights of a arrive at 252. The forward passes of a, b and c end at 262, 665 and 827: b waits for
  // its weights until 440. The backward pass of c runs until 1151. Meanwhile, the device holds 292 B: the weights of c,
  // the output of c and its gradient, the gradients of the outputs of a and b, and the gradients of the weights of c
  // (60 + 36 + 36 + 40 + 60 + 60 B). There is room for the weights of b (188 B), which come from 827 to 1015, or for
  // the output of a (40 B), but not for both. So the weights come first, and the output of a comes from 1151 to 1191.
  // The backward pass of b needs all 516 B, so it waits until 1211 for the save of the gradients of c. It ends at 1661,
  // and its gradients are saved until 1849. Meanwhile, a runs backward, and the save of its gradients ends at 1857. If
  // the output of a came first, or stayed on the device, the weights of b would arrive at 1339, and the run would end
  // 128 later.
  for (const char* fates : {"fates: {strategy: listed, offload: [1]}\n", "fates: optimal\n"})
    CHECK(nanoseconds(weights_first, fates) == Approx(1857).epsilon(1e-9));
  CHECK(nanoseconds(weights_first, "fates: keep_all\n") == Approx(1985).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
