// Blocks of layers, and `before`: residual networks written once a block.
#include <catch2/catch.hpp>

#include "unit/models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Inputs = std::vector<std::uint32_t>;

namespace {

const std::string x = "- {type: input, name: x, shape: [4]}\n";
const std::string residual =
    "blocks: {b: {parameters: {n: 4}, layers: [\n"
    "  {type: dense, name: full, features: $n},\n"
    "  {type: add, name: sum, inputs: [full, before]}]}}\n";

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) names.push_back(layer.name);
  return names;
}

}  // namespace

TEST_CASE("before is the layer in front of a repetition, then the last of the one before") {
  const Model m = model_of(x +
                           "- repeat: 2\n  layers:\n"
                           "    - {type: relu, name: a}\n"
                           "    - {type: relu, name: b}\n"
                           "    - {type: add, name: sum, inputs: [before, b]}\n");
  CHECK(names_of(m) == std::vector<std::string>{"x", "a.1", "b.1", "sum.1", "a.2", "b.2", "sum.2"});
  CHECK(m.layers[3].inputs == Inputs{0, 2});
  CHECK(m.layers[6].inputs == Inputs{3, 5});
}

TEST_CASE("a block stands where it is used, its names with the use's, its parameters its own") {
  const Model m = model_of(
      x + "- {block: b}\n- {block: b, name: two, n: $k / 2}\n" + "- {type: dense, features: $n}\n",
      "", residual + "parameters: {k: 8, n: 7}\n");
  CHECK(names_of(m) ==
        std::vector<std::string>{"x", "full", "sum", "full.two", "sum.two", "dense6"});
  CHECK(m.layers[2].inputs == Inputs{1, 0});
  CHECK(m.layers[4].inputs == Inputs{3, 2});
  CHECK(m.layers[3].parameters == 4 * 4 + 4);
  CHECK(m.layers[5].parameters == 4 * 7 + 7);  // the model's n again
}

TEST_CASE("repetitions stand in blocks, and blocks in repetitions and blocks") {
  const Model m = model_of(
      x + "- {block: outer, name: o, times: 2}\n", "",
      "blocks:\n"
      "  inner: {layers: [{type: relu, name: a}, {type: add, name: s, inputs: [before, a]}]}\n"
      "  outer:\n    parameters: {times: 1}\n    layers:\n"
      "      - {repeat: $times, layers: [{block: inner}]}\n"
      "      - {type: add, name: end, inputs: [before, x]}\n");
  CHECK(names_of(m) == std::vector<std::string>{"x", "a.o.1", "s.o.1", "a.o.2", "s.o.2", "end.o"});
  CHECK(m.layers[2].inputs == Inputs{0, 1});
  CHECK(m.layers[4].inputs == Inputs{2, 3});
  CHECK(m.layers[5].inputs == Inputs{0, 0});  // before the outer block; and by name
}

TEST_CASE("bad blocks are refused where they are written or used") {
  const auto said = [](const std::string& layers, const std::string& blocks = residual) {
    return refused(x + layers, "", blocks);
  };
  CHECK_THAT(said("- {block: c}\n"),
             Contains("m.yaml:8:11: error: the model has no block 'c'") && Contains("; it has: b"));
  CHECK_THAT(said("- {block: b}\n", ""), Contains("it has: none"));
  CHECK_THAT(
      said("- {block: b, m: 3}\n"),
      Contains("m.yaml:8:14: error: the block 'b' has no parameter 'm'") && Contains("it has: n"));
  CHECK_THAT(said("- {block: b, n: 0}\n"),
             Contains("m.yaml:8:17: error: '0' for the parameter 'n': it must be at least 1"));
  CHECK_THAT(said("- {block: b, n: $q}\n"),
             Contains("m.yaml:8:17: error: '$q': unknown parameter"));
  CHECK_THAT(said("- {block: b, n: [1]}\n"), Contains("a list for the parameter 'n'"));
  CHECK_THAT(said("- {block: b}\n- {block: b}\n"), Contains("duplicate layer name 'full'"));
  CHECK_THAT(said("- {block: b, n: 3}\n"),
             Contains("m.yaml:5:34: error: add of [3] and [4]: expected the same extents"));
  CHECK_THAT(said("- {block: a}\n",
                  "blocks: {a: {layers: [{block: b}]}, b: {layers: [{block: "
                  "a}]}}\n"),
             Contains("the block 'a' stands in itself"));
  CHECK_THAT(said("- {type: relu}\n", "blocks: {a: {layers: 3}}\n"),
             Contains("'3' for 'layers': expected a list"));
  CHECK_THAT(said("- {type: relu}\n", "blocks: {a: {layer: []}}\n"),
             Contains("unknown key 'layer' in block 'a'"));
  CHECK_THAT(said("- {block: a}\n", "blocks: {a: {layers: []}}\n"), Contains("'layers' is empty"));
  CHECK_THAT(said("- {type: relu}\n", "blocks: {a: {parameters: {block: 1}, layers: []}}\n"),
             Contains("nothing"));  // looked at where it is used
  CHECK_THAT(said("- {block: a}\n",
                  "blocks: {a: {parameters: {block: 1}, layers: [{type: "
                  "relu}]}}\n"),
             Contains("'block' cannot be a parameter's name"));
  CHECK_THAT(said("- {type: relu, inputs: [before]}\n"),
             Contains("'before' in 'inputs' is the layer before a repetition or a block, and there "
                      "is none here"));
  CHECK_THAT(said("- {type: relu, name: before}\n"), Contains("cannot be a layer's name"));
}
