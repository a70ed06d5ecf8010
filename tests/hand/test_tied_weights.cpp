// Tests weights that several layers share, in a model of several stages. Each stage that uses the
// shared weights holds them once.
#include <catch2/catch.hpp>

#include "stage/sizes.hpp"
#include "stage/stage.hpp"
#include "support/models.hpp"
#include "support/stage_models.hpp"

namespace sluice::test {
namespace {

TEST_CASE(
    "if GPT-2 is cut in two, both halves have the embedding table of words, and without a cut there "
    "is one table") {
  const Cutting cutting(load_model(zoo + "gpt2.yaml", {}));
  // The embedding table of words has 50257 x 768 = 38,597,376 parameters. The embedding table of positions has 1024 x
  // 768 = 786,432 parameters. A block has 12 x 768^2 + 13 x 768 = 7,087,872 parameters. The last norm has 2 x 768 =
  // 1,536 parameters. In int8, a parameter is a byte.
  const auto whole = cutting.cut("{cut: explicit, after: []}");
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].weight_bytes == 38'597'376 + 786'432 + 12 * 7'087'872 + 1'536);
  const auto halves = cutting.cut("{cut: explicit, after: [sum2.6]}");
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].weight_bytes == 38'597'376 + 786'432 + 6 * 7'087'872);
  CHECK(halves[1].weight_bytes == 38'597'376 + 1'536 + 6 * 7'087'872);
  CHECK(halves[0].weight_bytes + halves[1].weight_bytes == 124'439'808 + 38'597'376);
}

TEST_CASE(
    "a stage holds one copy of the weights that three layers share, for all positions of the "
    "cuts") {
  // Layer a has 6 parameters of its own, and b has 2 parameters. Layers c and d share the parameters of a. Layer d also
  // has a bias of 3 parameters.
  Model model = chain();
  model.layers[1].parameters = 6;
  for (const std::uint32_t l : {3U, 4U}) {
    model.layers[l].tied = 1;
    model.layers[l].shared = 6;
    model.layers[l].parameters = l == 4 ? 3 : 0;
  }
  const Sizes sizes(model, DType::int8);
  CHECK(sizes.weights(0, 4) == 6 + 2 + 3);
  CHECK(sizes.weights(0, 2) == 6 + 2);
  CHECK(sizes.weights(2, 2) == 2);
  CHECK(sizes.weights(2, 3) == 2 + 6);
  CHECK(sizes.weights(3, 4) == 6 + 3);
  CHECK(sizes.weights(4, 4) == 6 + 3);
  CHECK(sizes.weights(1, 3) == 6 + 2);
}

TEST_CASE("a layer reads tied weights like weights of its own") {
  const Model model = load_model(zoo + "gpt2.yaml", {"tokens=2", "blocks=1"});
  const Layer& logits = model.layers.back();
  // The layer `logits` reads an input of 2 x 768 elements and the whole table. It writes 2 x 50257 elements. Each
  // element has 4 bytes.
  CHECK(forward_work(model, logits, 1, DType::float32).bytes ==
        4.0 * (2 * 768 + 2 * 50257 + 38'597'376));
}

}  // namespace
}  // namespace sluice::test
