// Tests blocks of layers. In a block or a repetition, the name `before` stands for the layer before this block or
// repetition. With blocks, the document of a residual network describes each kind of block only once.
#include <catch2/catch.hpp>

#include "support/models.hpp"

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

TEST_CASE(
    "in the first repetition, `before` is the layer before the repetition, and in later repetitions the last layer of "
    "the previous repetition") {
  const Model m = model_of(x +
                           "- repeat: 2\n  layers:\n"
                           "    - {type: relu, name: a}\n"
                           "    - {type: relu, name: b}\n"
                           "    - {type: add, name: sum, inputs: [before, b]}\n");
  CHECK(names_of(m) == std::vector<std::string>{"x", "a.1", "b.1", "sum.1", "a.2", "b.2", "sum.2"});
  CHECK(m.layers[3].inputs == Inputs{0, 2});
  CHECK(m.layers[6].inputs == Inputs{3, 5});
}

TEST_CASE(
    "each use of a block becomes the layers of the block, whose names end with the name of the use") {
  const Model m = model_of(
      x + "- {block: b}\n- {block: b, name: two, n: $k / 2}\n" + "- {type: dense, features: $n}\n",
      "", residual + "parameters: {k: 8, n: 7}\n");
  CHECK(names_of(m) ==
        std::vector<std::string>{"x", "full", "sum", "full.two", "sum.two", "dense6"});
  CHECK(m.layers[2].inputs == Inputs{1, 0});
  CHECK(m.layers[4].inputs == Inputs{3, 2});
  CHECK(m.layers[3].parameters == 4 * 4 + 4);
  CHECK(m.layers[5].parameters == 4 * 7 + 7);  // n is the parameter of the model, not of the block
}

TEST_CASE("blocks may contain repetitions and blocks, and repetitions may contain blocks") {
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
  // The layer `end` names two inputs: `before`, which is the layer before the block `outer`, and x. Here, both are the
  // layer x.
  CHECK(m.layers[5].inputs == Inputs{0, 0});
}

TEST_CASE("a use of a block passes inputs, and inside the block they have the declared names") {
  const std::string join =
      "blocks:\n"
      "  join: {inputs: [deep, skip], layers: [{type: relu, name: r},\n"
      "    {type: add, name: s, inputs: [r, skip]}, {type: add, name: t, inputs: [before, s]}]}\n"
      "  twice: {inputs: [skip, deep], layers: [{block: join, name: a, inputs: [deep, skip]},\n"
      "    {repeat: 2, layers: [{type: add, name: u, inputs: [before, deep]}]}]}\n"
      "  one: {layers: [{type: relu, name: only}]}\n";
  const std::string two = "- {type: input, name: x, shape: [4]}\n- {type: relu, name: y}\n";
  const Model m =
      model_of(two + "- {block: join, inputs: [x, y]}\n- {block: one, inputs: [y]}\n", "", join);
  CHECK(names_of(m) == std::vector<std::string>{"x", "y", "r", "s", "t", "only"});
  CHECK(m.layers[2].inputs == Inputs{0});
  CHECK(m.layers[3].inputs == Inputs{2, 1});
  CHECK(m.layers[4].inputs == Inputs{0, 3});
  CHECK(m.layers[5].inputs == Inputs{1});
  // In the outer block `twice`, `deep` is y and `skip` is x. The inner block `join` declares its inputs in another
  // order. Inside `join`, too, `deep` is y and `skip` is x.
  const Model nested = model_of(two + "- {block: twice, name: o, inputs: [x, y]}\n", "", join);
  CHECK(names_of(nested) ==
        std::vector<std::string>{"x", "y", "r.o.a", "s.o.a", "t.o.a", "u.o.1", "u.o.2"});
  CHECK(nested.layers[2].inputs == Inputs{1});
  CHECK(nested.layers[3].inputs == Inputs{2, 0});
  CHECK(nested.layers[5].inputs == Inputs{4, 1});
  CHECK(nested.layers[6].inputs == Inputs{5, 1});

  const auto message_for = [&](const std::string& layers) {
    return refused(two + layers, "", join);
  };
  CHECK_THAT(message_for("- {block: join, inputs: [x]}\n"),
             Contains("the block 'join' takes 2 inputs (deep, skip), got 1"));
  CHECK_THAT(message_for("- {block: join}\n"), Contains("takes 2 inputs (deep, skip), got 1"));
  CHECK_THAT(message_for("- {block: one, inputs: [x, y]}\n"),
             Contains("the block 'one' takes 1 input, got 2"));
  CHECK_THAT(message_for("- {block: one, inputs: x}\n"), Contains("expected a list of layers"));
  CHECK_THAT(message_for("- {block: one, inputs: [z]}\n"),
             Contains("'z' in 'inputs' is not an earlier layer"));
  const auto declared = [&](const std::string& block) {
    return refused(two + "- {type: relu}\n", "", "blocks: {b: " + block + "}\n");
  };
  CHECK_THAT(declared("{inputs: [], layers: [{type: relu}]}"), Contains("'inputs' is empty"));
  CHECK_THAT(declared("{inputs: [a, a], layers: [{type: relu}]}"), Contains("duplicate input 'a'"));
  CHECK_THAT(declared("{inputs: [before], layers: [{type: relu}]}"),
             Contains("'before' cannot be the name of a block's input"));
  CHECK_THAT(refused(two + "- {block: b}\n", "",
                     "blocks: {b: {inputs: [a], layers: [{type: relu, name: a}]}}\n"),
             Contains("an input of the block has this name"));
}

TEST_CASE(
    "an error inside a block names the line in the block, and the line of each use of the block") {
  const std::string blocks =
      "blocks:\n"
      "  inner: {layers: [{type: reshape, shape: [5]}]}\n"
      "  outer:\n    layers:\n      - {block: inner, name: a}\n";
  const std::string message_for = refused(x + "- {block: outer}\n", "", blocks);
  CHECK_THAT(message_for, Catch::Matchers::StartsWith("3 m.yaml:4:") &&
                              Contains("'shape' does not hold the 4 elements") &&
                              Contains("\n    in the block 'inner', used at m.yaml:7:9\n"
                                       "    in the block 'outer', used at m.yaml:10:3"));
}

TEST_CASE("bad blocks are refused at the place where they are written or used") {
  const auto message_for = [](const std::string& layers, const std::string& blocks = residual) {
    return refused(x + layers, "", blocks);
  };
  CHECK_THAT(message_for("- {block: c}\n"),
             Contains("m.yaml:8:11: error: the model has no block 'c'") && Contains("; it has: b"));
  CHECK_THAT(message_for("- {block: b}\n", ""), Contains("it has: none"));
  CHECK_THAT(
      message_for("- {block: b, m: 3}\n"),
      Contains("m.yaml:8:14: error: the block 'b' has no parameter 'm'") && Contains("it has: n"));
  CHECK_THAT(message_for("- {block: b, n: 0}\n"),
             Contains("m.yaml:8:17: error: '0' for the parameter 'n': it must be at least 1"));
  CHECK_THAT(message_for("- {block: b, n: $q}\n"),
             Contains("m.yaml:8:17: error: '$q': unknown parameter"));
  CHECK_THAT(message_for("- {block: b, n: [1]}\n"), Contains("a list for the parameter 'n'"));
  CHECK_THAT(message_for("- {block: b}\n- {block: b}\n"), Contains("duplicate layer name 'full'"));
  CHECK_THAT(message_for("- {block: b, n: 3}\n"),
             Contains("m.yaml:5:34: error: add of [3] and [4]: expected two equal extents"));
  CHECK_THAT(message_for("- {block: a}\n",
                         "blocks: {a: {layers: [{block: b}]}, b: {layers: [{block: a}]}}\n"),
             Contains("the block 'a' contains itself"));
  CHECK_THAT(message_for("- {type: relu}\n", "blocks: {a: {layers: 3}}\n"),
             Contains("'3' for 'layers': expected a list"));
  CHECK_THAT(message_for("- {type: relu}\n", "blocks: {a: {layer: []}}\n"),
             Contains("unknown key 'layer' in block 'a'"));
  CHECK_THAT(message_for("- {block: a}\n", "blocks: {a: {layers: []}}\n"),
             Contains("'layers' is empty"));
  CHECK_THAT(message_for("- {type: relu}\n", "blocks: {a: {parameters: {block: 1}, layers: []}}\n"),
             Contains("nothing"));  // a block that is not used is not checked
  CHECK_THAT(message_for("- {block: a}\n",
                         "blocks: {a: {parameters: {block: 1}, layers: [{type: "
                         "relu}]}}\n"),
             Contains("'block' cannot be a parameter's name"));
  CHECK_THAT(
      message_for("- {type: relu, inputs: [before]}\n"),
      Contains(
          "'before' in 'inputs' is the layer before a repetition or a block, and there is no such layer "
          "here"));
  CHECK_THAT(message_for("- {type: relu, name: before}\n"), Contains("cannot be a layer's name"));
}

TEST_CASE("blocks that double many times are refused before they are written out") {
  // The model would have 2^59 layers. The program counts the layers of each of the 60 blocks only once. So it knows
  // this number before it makes any layer.
  std::string blocks = "blocks:\n  b0: {layers: [{type: relu}]}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string below = "{block: b" + std::to_string(i - 1) + "}";
    blocks += "  b" + std::to_string(i) + ": {layers: [" + below + ", " + below + "]}\n";
  }
  CHECK_THAT(refused(x + "- {block: b59}\n", "", blocks),
             Contains("m.yaml:66:3: error: with this item the model has more than 1000000 layers"));
  // If a repetition is inside another repetition, their numbers are multiplied. A parameter may give these numbers,
  // too.
  CHECK_THAT(refused(x + "- {repeat: 2000, layers: [{block: b, n: 600}]}\n", "",
                     "blocks: {b: {parameters: {n: 1}, layers: "
                     "[{repeat: $n, layers: [{type: relu}]}]}}\n"),
             Contains("error: with this item the model has more than 1000000 layers"));
  CHECK(model_of(x + "- {repeat: 20, layers: [{block: b, n: 6}]}\n", "",
                 "blocks: {b: {parameters: {n: 1}, layers: "
                 "[{repeat: $n, layers: [{type: relu}]}]}}\n")
            .layers.size() == 121);
}
