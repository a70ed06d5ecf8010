// Tests partial layers. A layer is divided into partial layers if its weights, gradients and state alone are larger
// than the memory.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/feasibility.hpp"
#include "model/partial.hpp"
#include "stage/sizes.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Row;
using test::small_scenario;

const std::vector<Row> one_large = {{1, 4000, 2000}, {2, 40'000, 1000}, {1, 4000, 400}};

TEST_CASE("the parts add up to the layer, and readers of the layer read all parts") {
  Model model;
  model.layers.resize(3);
  model.layers[1] = {.name = "7-Full", .inputs = {0}, .output = 10, .parameters = 7, .flop = 11};
  model.layers[2] = {.name = "last", .inputs = {1}};
  const Model split = split_layers(model, {1, 3, 1});
  REQUIRE(split.layers.size() == 5);
  CHECK(split.layers[1].name == "7-Fulla");
  CHECK(split.layers[3].name == "7-Fullc");
  CHECK(split.layers[3].inputs == std::vector<std::uint32_t>{0});
  CHECK(split.layers[4].inputs == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(split.layers[1].parameters == 3);  // the 7 parameters are divided into 3 + 2 + 2
  CHECK(split.layers[2].parameters == 2);
  CHECK(split.parameters() == model.parameters());
  CHECK(split.flop() == model.flop());
  CHECK(split.activations() == model.activations());
}

TEST_CASE(
    "layers that share weights are split into equally many parts, and each part has its part of "
    "the weights") {
  // `words` is an embedding table of 12 elements, and `scores` shares the table. The call asks for 1 part of `words`
  // and 3 parts of `scores`, so each of them gets 3 parts. The layer before the table is also split. So the parts of
  // the table get new layer numbers.
  Model model;
  model.layers.resize(4);
  model.layers[1] = {.name = "first", .inputs = {0}, .output = 4, .parameters = 4};
  model.layers[2] = {.name = "words", .inputs = {1}, .output = 6, .parameters = 12};
  model.layers[3] = {.name = "scores", .inputs = {2}, .output = 9, .parameters = 3};
  model.layers[3].tied = 2;
  model.layers[3].shared = 12;
  const Model split = split_layers(model, {1, 2, 1, 3});
  REQUIRE(split.layers.size() == 1 + 2 + 3 + 3);
  for (std::uint32_t part = 0; part < 3; ++part) {
    const Layer &words = split.layers[3 + part], &scores = split.layers[6 + part];
    CHECK(words.parameters == 4);
    CHECK(words.output == 2);
    CHECK(scores.tied == 3 + part);
    CHECK(scores.shared == 4);
    CHECK(scores.parameters == 1);
    CHECK(scores.inputs == std::vector<std::uint32_t>{3, 4, 5});
  }
  CHECK(split.parameters() == model.parameters());
  // A stage with all layers has the table once. A stage with only the first part of `scores` has a
  // third of the table.
  const Sizes sizes(split, DType::int8);
  CHECK(sizes.weights(0, 8) == 4 + 12 + 3);
  CHECK(sizes.weights(6, 6) == 4 + 1);
  CHECK(sizes.weights(6, 8) == 12 + 3);
  CHECK(sizes.weights(5, 8) == 12 + 3);  // layers 5 and 8 share part 3 of the table
}

TEST_CASE("a layer is split into the fewest parts that fit with gradients and state") {
  // Training with sgd needs 40,000 bytes of weights and 40,000 bytes of gradients of weights. It also needs 6000 bytes
  // for the input (2000), the output (1000) and the gradients of these two tensors.
  //
  // A memory of 50,000 bytes leaves 44,000 bytes. Half of the weights and gradients, 40,000 bytes, fits. So two parts
  // are enough.
  //
  // A memory of 30,500 bytes leaves 24,500 bytes. A quarter of the weights and gradients, 20,000 bytes, would fit.
  // But at the third of four parts, the device holds the whole input (2000 bytes) and the output of the first two
  // parts, which is half of the output (500 bytes). The third part passes on the input and three quarters of the
  // output (750 bytes). With the gradients of these tensors, it needs 2 x (2500 + 2750) = 10,500 bytes. So 20,000 +
  // 10,500 bytes would just fit. But parts have whole elements, so the tensors have 2504 and 2752 bytes. Four parts
  // do not fit. So there are five parts.
  const std::string training =
      "workload: {mode: training}\nstages: {cut: by_memory, split: true}\n"
      "policy: {name: streamed}\n";
  const auto layers = [&](const char* capacity) {
    const CutModel cut = cut_model(
        small_scenario(800, one_large, training,
                       {std::string("platform.devices.gpu.memory.capacity=") + capacity}));
    REQUIRE(cut.split);
    return cut.split->layers.size();
  };
  CHECK(layers("50kB") == 4 + 1);
  CHECK(layers("30500B") == 4 + 4);
}

TEST_CASE(
    "a layer that fits is not split, and the message for a layer that does not fit names the "
    "key 'split'") {
  const std::string training = "workload: {mode: training}\npolicy: {name: streamed}\n";
  CHECK_FALSE(
      cut_model(small_scenario(800, one_large, training + "stages: {cut: by_memory, split: true}\n",
                               {"platform.devices.gpu.memory.capacity=1MB"}))
          .split);
  CHECK_THROWS_WITH(
      cut_model(small_scenario(800, one_large, training + "stages: {cut: by_memory}\n",
                               {"platform.devices.gpu.memory.capacity=50kB"})),
      Catch::Contains("gradients and optimizer state 40000 B") &&
          Catch::Contains("stages.split=true"));
}

TEST_CASE(
    "if the layer would not fit even without its weights, the message does not advise to "
    "split the weights") {
  // The large layer needs 6000 bytes per sample for its input, its output and the gradients of these two tensors.
  const auto refusal = [](const std::string& split, const std::string& samples) {
    try {
      cut_model(small_scenario(
          800, one_large,
          "workload: {mode: training, batch: " + samples +
              "}\npolicy: {name: streamed}\nstages: {cut: by_memory, split: " + split + "}\n",
          {"platform.devices.gpu.memory.capacity=9kB"}));
    } catch (const Infeasible& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal("false", "1"),
             Catch::Contains("use stages.split=true, which splits such a layer into parts"));
  for (const char* split : {"true", "false"}) {
    CAPTURE(split);
    CHECK_THAT(refusal(split, "2"),
               Catch::Contains("the layer would not fit even if its weights were split: use a "
                               "smaller "
                               "workload.micro_batch"));
  }
}

TEST_CASE(
    "a plan over partial layers computes the FLOP of the model and moves the weights of the "
    "model") {
  const Scenario scenario =
      small_scenario(800, one_large,
                     "workload: {mode: training, optimizer: none}\nstages: {cut: by_memory, split: "
                     "true}\npolicy: {name: streamed}\n",
                     {"platform.devices.gpu.memory.capacity=50kB"});
  const Plan plan = make_plan(scenario);
  check(plan);
  double flop = 0;
  for (const Action& action : plan.actions) flop += action.flop;
  // At 1 GFLOP/s, the forward pass takes 4 ms and the backward pass takes 8 ms.
  CHECK(flop == Approx(4e6 * 3));
}

}  // namespace
}  // namespace sluice
