// Tests the shapes, expressions and repetitions of models, and compares models of the zoo with hand calculations.
#include <algorithm>
#include <catch2/catch.hpp>

#include "model/catalog.hpp"
#include "model/expression.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Counts = std::vector<std::int64_t>;

namespace {

Counts column(const Model& model, std::int64_t Layer::*count) {
  Counts counts;
  for (const Layer& layer : model.layers) counts.push_back(layer.*count);
  return counts;
}

}  // namespace

TEST_CASE(
    "the small CNN has the parameters, outputs and multiply-accumulates of the document that describes it") {
  const Model m = load_model(zoo + "cnn_mnist.yaml", {});
  // The parameters of a layer are its output channels times (weights per channel + 1 for the bias): 32 x (3x3x1 + 1) =
  // 320; 32 x (3x3x32 + 1) = 9248; 128 x (14x14x32 + 1); 10 x (128 + 1)
  CHECK(column(m, &Layer::parameters) == Counts{0, 320, 9248, 0, 802944, 1290});
  CHECK(m.parameters() == 813802);
  CHECK(column(m, &Layer::output) == Counts{784, 25088, 25088, 6272, 128, 10});
  // The MACs of a layer are its outputs times the weights per output: 25088 x 3x3x1 = 225792; 25088 x 3x3x32 = 7225344;
  // 128 x 6272 = 802816; 10 x 128
  CHECK(column(m, &Layer::macs) == Counts{0, 225792, 7225344, 0, 802816, 1280});
  CHECK(m.macs() == 8255232);
  // The convolutions take two FLOP per multiply-accumulate and one FLOP per output for the bias. The pool takes 2 x 2
  // FLOP per output.
  CHECK(column(m, &Layer::flop) == Counts{0, 2 * 225792 + 25088, 2 * 7225344 + 25088, 6272 * 4,
                                          2 * 802816 + 128, 2 * 1280 + 10});
}

TEST_CASE(
    "AlexNet with full input depth has the stage states of the table in 'AlexNet on one card'") {
  const Model m = load_model(zoo + "alexnet.yaml", {});
  const Model table = load_model(zoo + "alexnet_data_island.json", {});
  CHECK(column(m, &Layer::output) == column(table, &Layer::output));
  CHECK(m.layers[1].shape == Shape{54, 54, 96});
  CHECK(m.layers[4].shape == Shape{26, 26, 256});
  CHECK(m.layers[13].shape == Shape{5, 5, 256});
  // The layers have these numbers of weights: 11x11x3x96, 5x5x96x256, 3x3x256x384, 3x3x384x384, 3x3x384x256, 6400x4096,
  // 4096x4096, 4096x1000
  const Counts weights = {34848, 614400, 884736, 1327104, 884736, 26214400, 16777216, 4096000};
  Counts found;
  for (const Layer& layer : m.layers)
    if (layer.parameters > 0) found.push_back(layer.parameters);
  CHECK(found == weights);
  CHECK(m.parameters() == 50833440);
  // The MACs of a layer are its outputs times the weights per output. The sum over all layers is
  //   279936 x 363 + 173056 x 2400 + 55296 x 2304 + 55296 x 3456
  //   + 36864 x 3456 + 26214400 + 16777216 + 4096000 = 1,009,945,728
  CHECK(m.macs() == 1009945728);
  // A MAC takes 2 FLOP. The relu layers take 279936 + 173056 + 2 x 55296 + 36864 + 2 x 4096 = 608,640 FLOP more. The
  // pools take 9 x (64896 + 36864 + 6400) = 973,440 FLOP.
  CHECK(m.flop() == 2 * 1009945728LL + 608640 + 973440);
}

TEST_CASE("the layers of a stage table have their names, inputs and numbers from the table") {
  const Model m = load_model(zoo + "alexnet_data_island.json", {});
  REQUIRE(m.layers.size() == 19);
  CHECK(m.name == "alexnet_data_island");
  CHECK(m.layers[4].name == "5-Conv");
  CHECK(m.layers[4].type == "Conv");
  CHECK(m.layers[4].inputs == std::vector<std::uint32_t>{3});
  CHECK(m.layers[0].inputs.empty());
  CHECK(m.parameters() == 47114848);
  CHECK(m.activations() == 1476968);
  CHECK(m.flop() == 174808832);
  CHECK(m.macs() == 0);
  CHECK(m.layers[4].parameters == 18016 - 11616);
  CHECK(m.layers[4].flop == 77261312 - 68608512);
  CHECK(m.layers[14].parameters == 6400 * 4096);
}

TEST_CASE("scale multiplies parameters, outputs, multiply-accumulates and FLOP, but not shapes") {
  const Model one = load_model(zoo + "alexnet.yaml", {});
  const Model many = load_model(zoo + "alexnet.yaml", {"scale=200"});
  CHECK(many.parameters() == 200 * one.parameters());
  CHECK(many.activations() == 200 * one.activations());
  CHECK(many.macs() == 200 * one.macs());
  CHECK(many.flop() == 200 * one.flop());
  CHECK(many.layers[1].shape == one.layers[1].shape);
}

TEST_CASE("the chain of products has the parameters of the document 'PopART phased execution'") {
  const Model m = load_model(zoo + "matmul_chain.yaml", {});
  REQUIRE(m.layers.size() == 4);
  CHECK(m.layers[3].name == "product.3");
  CHECK(m.layers[3].shape == Shape{250, 250});
  CHECK(m.layers[3].parameters == 62500);            // 125,000 B in float16
  CHECK(m.layers[3].flop == 2LL * 250 * 250 * 250);  // 1.0e9 for 32 samples
  const Model other = load_model(zoo + "matmul_chain.yaml", {"layers=5", "size=100"});
  CHECK(other.layers.size() == 6);
  CHECK(other.parameters() == 5 * 10000);
}

TEST_CASE(
    "the number of windows follows from the padding (valid, same, or a number) and the stride") {
  const auto shape = [](const std::string& keys) {
    return model_of(image + "- {type: conv2d, channels: 8, " + keys + "}\n").layers[1].shape;
  };
  CHECK(shape("kernel: 3") == Shape{26, 26, 8});
  CHECK(shape("kernel: 3, padding: same") == Shape{28, 28, 8});
  CHECK(shape("kernel: 3, padding: same, stride: 3") == Shape{10, 10, 8});  // ceil(28 / 3)
  CHECK(shape("kernel: 3, padding: 1, stride: 2") == Shape{14, 14, 8});     // floor(27 / 2) + 1
  CHECK(shape("kernel: 5, padding: 0, stride: 4") == Shape{6, 6, 8});       // floor(23 / 4) + 1
  CHECK(shape("kernel: 28") == Shape{1, 1, 8});
  const auto pool = [](const std::string& keys) {
    return model_of(image + "- {type: max_pool, " + keys + "}\n").layers[1].shape;
  };
  CHECK(pool("kernel: 2") == Shape{14, 14, 3});
  CHECK(pool("kernel: 3, stride: 2") == Shape{13, 13, 3});
}

TEST_CASE("a bias adds one parameter per channel or feature, and one FLOP per output") {
  const Model m =
      model_of(image + "- {type: conv2d, channels: 8, kernel: 3}\n" +
               "- {type: conv2d, channels: 8, kernel: 3, bias: false}\n" +
               "- {type: dense, features: 10}\n" + "- {type: dense, features: 10, bias: false}\n");
  CHECK(m.layers[1].parameters == 3 * 3 * 3 * 8 + 8);
  CHECK(m.layers[1].flop == 2 * m.layers[1].macs + 26 * 26 * 8);
  CHECK(m.layers[2].parameters == 3 * 3 * 8 * 8);
  CHECK(m.layers[2].flop == 2 * m.layers[2].macs);
  CHECK(m.layers[3].parameters == 24 * 24 * 8 * 10 + 10);
  CHECK(m.layers[4].parameters == 100);
  CHECK(m.layers[4].flop == 200);
}

TEST_CASE("expressions are computed with integers and the values of parameters") {
  const Parameters p = {{"size", 6}, {"n", 3}};
  CHECK(evaluate("$size", p) == 6);
  CHECK(evaluate("$size * 2 + 1", p) == 13);
  CHECK(evaluate("2*($size-$n)/$n", p) == 2);
  CHECK(evaluate("10 - 2 - 3", p) == 5);
  CHECK(evaluate(" 12 / 2 / 3 ", p) == 2);
  const auto message_for = [&](const std::string& text) {
    return error_of([&] { evaluate(text, p); });
  };
  CHECK_THAT(message_for("$sise"),
             Contains("unknown parameter 'sise' (did you mean 'size'?); the model has: n, size"));
  CHECK_THAT(message_for("7 / 2"), Contains("7 / 2 is not a whole number"));
  CHECK_THAT(message_for("1 / 0"), Contains("division by zero"));
  CHECK_THAT(message_for("9223372036854775807 + 1"), Contains("does not fit in 64 bits"));
  CHECK_THAT(message_for("9223372036854775808"), Contains("does not fit in 64 bits"));
  CHECK_THAT(message_for("3037000500 * 3037000500"), Contains("does not fit in 64 bits"));
  CHECK_THAT(message_for("0 - 9223372036854775807 - 2"), Contains("does not fit in 64 bits"));
  CHECK_THAT(message_for(""), Contains("it ends too early"));
  CHECK_THAT(message_for("2 *"), Contains("it ends too early"));
  CHECK_THAT(message_for("(2"), Contains("a ')' is missing"));
  CHECK_THAT(message_for("2 3"), Contains("'3' follows a complete expression"));
  CHECK_THAT(message_for("-2"), Contains("a '-' is not allowed here"));
  CHECK_THAT(message_for("1.5"), Contains("'.5' follows a complete expression"));
  CHECK_THAT(message_for(std::string(100'000, '(')), Contains("too many parentheses"));
}

TEST_CASE(
    "repetitions may be nested and add numbers to the names of their layers, and an input is first "
    "looked up in its own repetition") {
  const Model m = model_of(
      "- {type: input, name: x, shape: [4]}\n"
      "- repeat: 2\n  layers:\n"
      "    - {type: relu, name: a}\n"
      "    - repeat: $n - 1\n      layers:\n"
      "        - {type: relu, name: b, inputs: [a]}\n"
      "    - {type: relu, inputs: [x]}\n",
      "n: 3", "parameters: {n: 1}\n");
  std::vector<std::string> names;
  for (const Layer& layer : m.layers) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"x", "a.1", "b.1.1", "b.1.2", "relu5", "a.2", "b.2.1",
                                          "b.2.2", "relu9"});
  CHECK(m.layers[3].inputs == std::vector<std::uint32_t>{1});
  CHECK(m.layers[4].inputs == std::vector<std::uint32_t>{0});
  CHECK(m.layers[5].inputs == std::vector<std::uint32_t>{4});
  CHECK(m.layers[7].inputs == std::vector<std::uint32_t>{5});
}

TEST_CASE("a repetition of 0 times has no layers, and the next layer reads the layer before it") {
  const Model m = model_of(
      "- {type: input, name: x, shape: [4]}\n"
      "- {repeat: $n - 1, layers: [{type: relu, name: a}]}\n"
      "- {type: tanh, name: b}\n",
      "n: 1", "parameters: {n: 2}\n");
  REQUIRE(m.layers.size() == 2);
  CHECK(m.layers[1].name == "b");
  CHECK(m.layers[1].inputs == std::vector<std::uint32_t>{0});
}

TEST_CASE(
    "an override of one word sets a parameter, and an override with a path sets a key of "
    "the document") {
  CHECK(load_model(zoo + "alexnet.yaml", {"layers.1.channels=48"}).layers[1].shape ==
        Shape{54, 54, 48});
  CHECK_THAT(error_of([] { load_model(zoo + "matmul_chain.yaml", {"sise=3"}); }),
             StartsWith("3 sise=3:1:6: error: the model has no parameter 'sise' (did you mean "
                        "'size'?); it has: layers, size (and scale)"));
}

TEST_CASE("every entry of the layer catalog has a summary and reads a layer of its type") {
  for (const LayerType* type : layer_catalog().entries()) {
    INFO(type->name);
    CHECK_FALSE(type->summary.empty());
    CHECK(layer_record(*type).fields.size() == 6 + type->parameters.size());
    const Model m = model_of("  [" + type->example + "]\n");
    const auto read = std::ranges::find(m.layers, type->name, &Layer::type);
    REQUIRE(read != m.layers.end());
    CHECK(read->output > 0);
  }
}

TEST_CASE("a model of 100,000 layers is read completely from JSON") {
  std::string text =
      R"({"format": "sluice-model/1", "name": "big", "layers": [{"type": "input", "shape": [4, 4]})";
  for (int i = 0; i < 100'000; ++i)
    text += R"(, {"type": "matmul", "name": "m)" + std::to_string(i) + R"(", "features": 4})";
  Value use = Value::make_map();
  use.set("definition", parse_text(text + "]}", "big.json"));
  const Model m = read_model(use);
  CHECK(m.parameters() == 1'600'000);
  CHECK(m.layers.size() == 100'001);
  CHECK(m.layers.back().inputs == std::vector<std::uint32_t>{99'999});
}

TEST_CASE("a parameter may be given as model.KEY=VALUE, as in a scenario") {
  const std::string resnet = sluice::test::zoo + "resnet50.yaml";
  CHECK(load_model(resnet, {"model.blocks1=4"}).parameters() ==
        load_model(resnet, {"blocks1=4"}).parameters());
  CHECK(load_model(resnet, {"model.blocks1=4"}).parameters() !=
        load_model(resnet, {}).parameters());
  CHECK(load_model(resnet, {"model.layers.0.shape=[64, 64, 3]"}).layers[0].output == 64 * 64 * 3);
}
