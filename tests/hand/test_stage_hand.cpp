// Compares the bytes of stages with hand calculations, and the cut `balanced` with all possible cuts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "support/source_folder.hpp"
#include "support/stage_models.hpp"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("the workspace of a chain is the greatest sum of two neighbouring inner tensors") {
  const Model model = chain();  // the input has 10 elements, and the outputs have 20, 30, 5 and 7
  // All layers are in one stage, in float32. The inner tensors are the outputs of layers a, b and c. The stage holds 20
  // elements while layer a runs, 20 + 30 while b runs, 30 + 5 while c runs, and 5 while d runs. The output of layer d
  // leaves the stage. The greatest sum is 50 elements.
  const auto one = make_stages(model, {4}, DType::float32);
  REQUIRE(one.size() == 1);
  CHECK(one[0].input_bytes == 4 * 10);
  CHECK(one[0].output_bytes == 4 * 7);
  CHECK(one[0].workspace_bytes == 4 * 50);
  CHECK(one[0].weight_bytes == 4 * 10);

  // With a cut after b, tensor b crosses the cut. The stage {input, a, b} has the inner tensor a (20 elements), which
  // it holds while layers a and b run. The stage {c, d} has the inner tensor c (5 elements).
  const auto two = make_stages(model, {2, 4}, DType::int8);
  REQUIRE(two.size() == 2);
  CHECK(two[0].input_bytes == 10);
  CHECK(two[0].output_bytes == 30);
  CHECK(two[0].workspace_bytes == 20);
  CHECK(two[0].weight_bytes == 3);
  CHECK(two[1].input_bytes == 30);
  CHECK(two[1].output_bytes == 7);
  CHECK(two[1].workspace_bytes == 5);
  CHECK(two[1].weight_bytes == 7);
}

TEST_CASE("a stage of one layer has no workspace") {
  for (const Stage& stage : make_stages(chain(), {1, 2, 3, 4}, DType::int8))
    CHECK(stage.workspace_bytes == 0);
}

TEST_CASE(
    "in a diamond, every tensor that is made before a cut and read after it crosses the cut") {
  // The input has 10 elements. Layer a (8 elements) reads the input. Layers b (16 elements) and c (4) read layer a.
  // Layer d (2) reads layers b and c. As in a residual block, the output of layer a is held until layer c has run.
  Model model;
  model.layers = {layer("input", {}, 10, 0, 0), layer("a", {0}, 8, 0, 1), layer("b", {1}, 16, 0, 1),
                  layer("c", {1}, 4, 0, 1), layer("d", {2, 3}, 2, 0, 1)};
  // All layers are in one stage. The stage holds 8 elements while layer a runs, 8 + 16 while b runs, 8 + 16 + 4 while c
  // runs, and 16 + 4 while d runs.
  const auto one = make_stages(model, {4}, DType::int8);
  CHECK(one[0].workspace_bytes == 28);
  CHECK(one[0].input_bytes == 10);
  CHECK(one[0].output_bytes == 2);
  // With a cut after layer b, tensors a and b cross the cut (8 + 16 = 24 elements). So the first stage has no inner
  // tensor. The second stage has the inner tensor c (4 elements) while layers c and d run.
  const auto two = make_stages(model, {2, 4}, DType::int8);
  CHECK(two[0].output_bytes == 24);
  CHECK(two[0].workspace_bytes == 0);
  CHECK(two[1].input_bytes == 24);
  CHECK(two[1].workspace_bytes == 4);
  // With a cut after layer c, tensors b and c cross (20 elements). No later layer reads tensor a. Tensor a is the inner
  // tensor of the first stage, which holds it while layers a, b and c run.
  const auto later = make_stages(model, {3, 4}, DType::int8);
  CHECK(later[0].output_bytes == 20);
  CHECK(later[0].workspace_bytes == 8);
  CHECK(later[1].workspace_bytes == 0);
}

TEST_CASE("an input that a later stage reads crosses every cut before it") {
  // The input has 10 elements. Layer a (8 elements) reads the input. Layer b (6) reads layer a. Layer c (4) reads layer
  // b and the input.
  Model model;
  model.layers = {layer("input", {}, 10, 0, 0), layer("a", {0}, 8, 0, 1), layer("b", {1}, 6, 0, 1),
                  layer("c", {0, 2}, 4, 0, 1)};
  const auto stages = make_stages(model, {1, 2, 3}, DType::int8);
  CHECK(stages[0].input_bytes == 10);
  CHECK(stages[0].output_bytes == 18);  // the bytes of a and of the input
  CHECK(stages[1].input_bytes == 18);
  CHECK(stages[1].output_bytes == 16);  // the bytes of b and of the input
  CHECK(stages[2].input_bytes == 16);
  CHECK(stages[2].output_bytes == 4);
}

TEST_CASE("an answer in the middle of a model is kept to the end") {
  // The input has 10 elements. Layer a (8) reads the input, and layers b (6) and c (4) read layer a. No layer reads b.
  Model model;
  model.layers = {layer("input", {}, 10, 0, 0), layer("a", {0}, 8, 0, 1), layer("b", {1}, 6, 0, 1),
                  layer("c", {1}, 4, 0, 1)};
  const auto stages = make_stages(model, {2, 3}, DType::int8);
  CHECK(stages[0].output_bytes == 14);  // the bytes of a, which c reads, and of the answer b
  CHECK(stages[1].output_bytes == 10);  // the bytes of the answers b and c
}

TEST_CASE(
    "the input of the first stage includes an input of the model that only a later stage reads") {
  // The image has 10 elements, and the mask has 3. Layer a (8) reads the image. Layer b (5) reads layer a and the mask.
  Model model;
  model.layers = {layer("image", {}, 10, 0, 0), layer("a", {0}, 8, 0, 1),
                  layer("mask", {}, 3, 0, 0), layer("b", {1, 2}, 5, 0, 1)};
  const auto stages = make_stages(model, {1, 3}, DType::int8);
  CHECK(stages[0].input_bytes == 13);
  CHECK(stages[0].output_bytes == 11);  // the bytes of a and the mask, which b reads
  CHECK(stages[1].workspace_bytes == 0);
  CHECK(stages[1].name == "b");
}

namespace {

/// Tries all ways to cut the layers from index `begin` to the end into `count` stages. Returns the seconds of the
/// longest stage in the best of these cuts.
std::int64_t best_of_all(const std::vector<std::int64_t>& seconds, std::size_t begin,
                         std::size_t count) {
  std::int64_t stage = 0;
  if (count == 1) {
    for (std::size_t i = begin; i < seconds.size(); ++i) stage += seconds[i];
    return stage;
  }
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::size_t end = begin + 1; end + count - 1 <= seconds.size(); ++end) {
    stage += seconds[end - 1];
    best = std::min(best, std::max(stage, best_of_all(seconds, end, count - 1)));
  }
  return best;
}

}  // namespace

TEST_CASE("on 200 random chains, the cut `balanced` is as good as the best of all cuts") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::int64_t> seconds, weights;
    Model model;
    model.layers = {layer("input", {}, 1, 0, 0)};
    const auto layers = 1 + random() % 10;
    for (std::uint32_t i = 0; i < layers; ++i) {
      // The seconds and the weights may be 0, and several layers may have equal seconds or equal weights.
      seconds.push_back(static_cast<std::int64_t>(random() % 12));
      weights.push_back(static_cast<std::int64_t>(random() % 12));
      model.layers.push_back(layer("l" + std::to_string(i), {i}, 1, weights.back(), seconds.back()));
    }
    const std::size_t count = 1 + random() % layers;
    const std::string balanced = "{cut: balanced, count: " + std::to_string(count);
    const auto by_time = Cutting(model).cut(balanced + "}");
    const auto by_weights = Cutting(model).cut(balanced + ", of: weights}");
    CHECK(by_time.size() == count);
    CHECK(by_weights.size() == count);
    CHECK(std::ranges::max(by_time, {}, &Stage::flop).flop == best_of_all(seconds, 0, count));
    CHECK(std::ranges::max(by_weights, {}, &Stage::weight_bytes).weight_bytes ==
          best_of_all(weights, 0, count));
  }
}

TEST_CASE(
    "single_tensor cuts a chain after each layer, and a diamond only after its branches "
    "have joined") {
  CHECK(Cutting(chain()).lasts("{cut: single_tensor}") == std::vector<std::uint32_t>{1, 2, 3, 4});
  Model model;
  // Two tensors cross a cut after layer b: a and b. Two tensors cross a cut after layer c: b and c. Layer d joins b and
  // c, and layer e reads d.
  model.layers = {layer("input", {}, 10, 0, 0), layer("a", {0}, 8, 0, 1),
                  layer("b", {1}, 16, 0, 1),    layer("c", {1}, 4, 0, 1),
                  layer("d", {2, 3}, 2, 0, 1),  layer("e", {4}, 2, 0, 1)};
  const Cutting diamond(model);
  CHECK(diamond.lasts("{cut: single_tensor}") == std::vector<std::uint32_t>{1, 4, 5});
  // In the model `shortcut`, a shortcut leads from layer a to the last layer. In the model `answers`, the output of
  // layer c is an answer. An answer is kept to the end, so it crosses all later cuts.
  Model shortcut = model;
  shortcut.layers[5].inputs = {4, 1};
  CHECK(Cutting(shortcut).lasts("{cut: single_tensor}") == std::vector<std::uint32_t>{1, 5});
  Model answers = model;
  answers.layers[4].inputs = {2};
  CHECK(Cutting(answers).lasts("{cut: single_tensor}") == std::vector<std::uint32_t>{1, 5});
  // A second input exists from the beginning of the run, and crosses every cut until a layer reads it.
  Model late = chain();
  late.layers.push_back(layer("other", {}, 3, 0, 0));
  late.layers.push_back(layer("sum", {4, 5}, 7, 0, 1));
  CHECK(Cutting(late).lasts("{cut: single_tensor}") == std::vector<std::uint32_t>{6});
}

TEST_CASE("single_tensor counts each kept tensor of a residual network once") {
  // For the backward pass, all stages together must keep as many bytes as a single stage with all layers.
  for (const char* name : {"resnet18", "squeezenet1_0", "unet", "densenet121", "vgg16"}) {
    CAPTURE(name);
    const Model model =
        load_model(test::source_folder() + "/models/" + name + ".yaml", {});
    const std::vector<Stage> stages = Cutting(model).cut("{cut: single_tensor}");
    const auto last = static_cast<std::uint32_t>(model.layers.size()) - 1;
    const Stage whole = make_stages(model, {last}, DType::int8).at(0);
    std::int64_t kept = 0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      kept += stages[s].kept.inner_bytes;
      if (s + 1 < stages.size() && (stages[s].kept.reads_output || stages[s + 1].kept.reads_input))
        kept += stages[s].output_bytes;
    }
    CHECK(kept == whole.kept.inner_bytes);
  }
}
