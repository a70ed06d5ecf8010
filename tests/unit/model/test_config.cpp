// Tests the text that describes a layer's configuration, and the shapes of the tensors that the
// layer reads.
#include <catch2/catch.hpp>

#include "model/partial.hpp"
#include "support/models.hpp"

namespace sluice::test {
namespace {

TEST_CASE(
    "layers with equal computations have equal configurations, however the layers are written") {
  const Model model = model_of(
      "- {type: input, name: x, shape: [20]}\n"
      "- {type: dense, name: a, features: 20}\n"
      "- {type: dense, name: b, features: 4 * 5, bias: true, inputs: [x]}\n"
      "- {type: dense, name: c, features: 20, bias: false}\n"
      "- {type: relu, name: d}\n");
  CHECK(model.layers[1].config == "dense bias=true features=20 sparsity=0");
  CHECK(model.layers[2].config == model.layers[1].config);
  CHECK(model.layers[3].config == "dense bias=false features=20 sparsity=0");
  CHECK(model.layers[4].config == "relu");
  CHECK(model.layers[0].input_shapes.empty());
  for (std::size_t l = 1; l < 5; ++l)
    CHECK(model.layers[l].input_shapes == std::vector<Shape>{{20}});
}

TEST_CASE(
    "a join has the shapes of all its inputs, and the configuration of a partial layer says which part it is") {
  const Model model = model_of(
      "- {type: input, name: x, shape: [8, 8, 6]}\n"
      "- {type: conv2d, name: a, channels: 6, kernel: [1, 1]}\n"
      "- {type: global_avg_pool, name: g}\n- {type: mul, inputs: [a, g]}\n");
  CHECK(model.layers[1].config.find("kernel=[1,1]") != std::string::npos);
  CHECK(model.layers[3].input_shapes == std::vector<Shape>{{8, 8, 6}, {1, 1, 6}});
  const Model split = split_layers(model, {1, 2, 1, 1});
  CHECK(split.layers[1].config == model.layers[1].config + " part=1/2");
  CHECK(split.layers[2].config == model.layers[1].config + " part=2/2");
}

}  // namespace
}  // namespace sluice::test
