// Tests training on a device that loads only inputs and has room for all of them. With more memory, such a run must not
// be slower.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

/// Returns the seconds of two steps with two micro-batches each. The input of a micro-batch is loaded twice: for the
/// forward pass, and for the backward pass of the first layer.
double seconds(const std::string& capacity) {
  return replay(make_plan(read_scenario(parse_text(R"(
format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: loaded twice
    layers: [{type: input, name: x, shape: [57]}, {type: dense, name: a, features: 856}, {type: relu, name: b}]
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu: {rate: {float32: 6GFLOP/s}, memory: {capacity: )" +
                                                       capacity + R"(}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 50MB/s, setup: 50us}}
workload: {batch: 4, micro_batch: 2, steps: 2, mode: training, optimizer: sgd}
stages: per_layer
fates: offload_all
policy: {name: resident}
cost: peak
)",
                                                   "twice.yaml"),
                                        "twice")))
      .makespan;
}

TEST_CASE("with room for all inputs, the loads of inputs follow each other without a pause") {
  // The weights have 198,592 B, and each load of an input has 2 x 57 x 4 = 456 B. The eight loads of inputs follow the
  // weights. Then the last backward pass of the dense layer takes 393,760 FLOP, and the update 2 FLOP for each of
  // 49,648 weights. With 418,641 B, the device has no room for all early loads, but these loads do not pause either.
  const double loads_s = 9 * 50e-6 + (198'592 + 8 * 456) / 50e6;
  const double after_s = (393'760 + 2 * 49'648) / 6e9;
  CHECK(seconds("418641B") == Approx(loads_s + after_s).epsilon(1e-9));
  CHECK(seconds("unlimited") == Approx(loads_s + after_s).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
