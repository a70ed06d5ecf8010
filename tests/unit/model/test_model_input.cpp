// Tests that wrong models are refused. Each message gives the position of the error.
#include <catch2/catch.hpp>

#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::string table_with(const std::string& rows) {
  return error_of([&] {
    Value use = Value::make_map();
    use.set("definition",
            parse_text("{\"func\": \"quick_plot\", \"data\": [" + rows + "]}", "t.json"));
    read_model(use);
  });
}

const std::string head =
    "[\"step\", \"action\", \"stage state\", \"total state\", \"total params\", \"total "
    "FLOPs\"],\n";

}  // namespace

TEST_CASE("bad layers are refused at the faulty key") {
  CHECK_THAT(refused(image + "- {type: conv4d, kernel: 3}\n"),
             Contains("m.yaml:5:10: error: unknown layer type 'conv4d' (did you mean 'conv1d'?); "
                      "known: input, conv1d, conv2d, conv3d, conv_transpose1d, "));
  CHECK_THAT(refused(image + "- {kernel: 3}\n"), Contains("the key 'type' is missing in a layer"));
  CHECK_THAT(refused(image + "- relu\n"),
             Contains("expected a layer like {type: relu}, got a string"));
  CHECK_THAT(
      refused(image + "- {type: conv2d, chanels: 3, kernel: 3}\n"),
      Contains("m.yaml:5:18: error: unknown key 'chanels' in layer type conv2d (did you mean "
               "'channels'?); allowed: type, name, inputs, tied, channels, kernel"));
  CHECK_THAT(refused(image + "- {type: conv2d, kernel: 3}\n"),
             Contains("the key 'channels' is missing"));
  CHECK_THAT(refused(image + "- {type: conv2d, channels: 0, kernel: 3}\n"),
             Contains("m.yaml:5:28: error: '0' for 'channels': it must be at least 1"));
  CHECK_THAT(refused(image + "- {type: conv2d, channels: 1, kernel: -3}\n"),
             Contains("'-3' for 'kernel': it must be at least 1"));
  CHECK_THAT(
      refused(image + "- {type: conv2d, channels: 1, kernel: 29}\n"),
      Contains("m.yaml:5:39: error: '29' for 'kernel': larger than the input [28, 28, 3] with "
               "a padding of 0, expected at most 28"));
  CHECK_THAT(refused(image + "- {type: conv2d, channels: 1, kernel: 3, stride: 0}\n"),
             Contains("'0' for 'stride': it must be at least 1"));
  CHECK_THAT(refused(image + "- {type: conv2d, channels: 1, kernel: 3, padding: smae}\n"),
             Contains("'smae' for 'padding': expected an integer, or: valid, same"));
  CHECK_THAT(refused(image + "- {type: conv2d, channels: 1, kernel: 3, bias: both}\n"),
             Contains("'both' for 'bias': expected true or false"));
  CHECK_THAT(refused(image + "- {type: conv2d, channels: 1.5, kernel: 3}\n"),
             Contains("'1.5' for 'channels': expected an integer"));
  CHECK_THAT(
      refused(image + "- {type: dense, features: 3}\n- {type: max_pool, kernel: 2}\n"),
      Contains("m.yaml:6:10: error: max_pool needs an input of [length, channels], [height, width, "
               "channels] or [depth, height, width, channels], got [3]"));
  CHECK_THAT(refused(image + "- {type: matmul, features: 3}\n"),
             Contains("matmul needs an input of [rows, columns], got [28, 28, 3]"));
  CHECK_THAT(refused("- {type: relu}\n"),
             Contains("the first layer must be of type input, got relu"));
  CHECK_THAT(refused("- {type: input, shape: []}\n"), Contains("'shape' is empty"));
  CHECK_THAT(refused("- {type: input, shape: [2, 0]}\n"),
             Contains("m.yaml:4:28: error: '0' in 'shape': expected an integer of at least 1"));
  CHECK_THAT(refused("- {type: input, shape: [2.5]}\n"), Contains("'2.5' in 'shape'"));
  CHECK_THAT(refused("- {type: input, shape: 3}\n"), Contains("'3' for 'shape': expected a list"));
}

TEST_CASE("bad inputs, names and repetitions are refused") {
  CHECK_THAT(refused(image + "- {type: relu, name: x}\n"),
             Contains("m.yaml:5:22: error: duplicate layer name 'x'"));
  CHECK_THAT(
      refused(image + "- {type: relu, name: a, inputs: [b]}\n- {type: relu, name: b}\n"),
      Contains(
          "m.yaml:5:34: error: 'b' in 'inputs' is not an earlier layer; the last ones are: x"));
  CHECK_THAT(refused(image + "- {type: relu, name: a, inputs: [a]}\n"),
             Contains("'a' in 'inputs' is not an earlier layer"));
  CHECK_THAT(refused(image + "- {type: relu, inputs: [x, x]}\n"),
             Contains("relu takes 1 input, got 2"));
  CHECK_THAT(refused(image + "- {type: relu, inputs: []}\n"),
             Contains("relu takes 1 input, got 0"));
  CHECK_THAT(refused(image + "- {type: input, shape: [1], inputs: [x]}\n"),
             Contains("input takes no inputs, got 1"));
  CHECK_THAT(refused(image + "- {repeat: -1, layers: [{type: relu}]}\n"),
             Contains("m.yaml:5:12: error: '-1' for 'repeat': expected an integer of at least 0"));
  CHECK_THAT(refused(image + "- {repeat: 2.5, layers: [{type: relu}]}\n"),
             Contains("'2.5' for 'repeat'"));
  CHECK_THAT(refused(image + "- {repeat: $m, layers: [{type: relu}]}\n"),
             Contains("'$m': unknown parameter 'm'; the model has: none"));
  CHECK_THAT(refused(image + "- {repeat: 2, layers: []}\n"), Contains("'layers' is empty"));
  CHECK_THAT(refused(image + "- {repeat: 2, layer: [{type: relu}]}\n"),
             Contains("unknown key 'layer' in repeat (did you mean 'layers'?)"));
  CHECK_THAT(refused(image + "- {repeat: 1000000000000, layers: [{type: relu}]}\n"),
             Contains("m.yaml:5:3: error: with this item the model has more than 1000000 layers"));
  CHECK_THAT(refused(image + "- {type: dense, features: $k}\n", "", "parameters: {n: 1}\n"),
             Contains("m.yaml:6:27: error: '$k': unknown parameter 'k'"));
  CHECK_THAT(error_of([] {
               read_model(
                   parse_text("{definition: {format: sluice-model/1, name: m, "
                              "layers: []}}",
                              "s.yaml"));
             }),
             Contains("'layers' is empty"));
}

TEST_CASE("parameters are checked at their declaration and at their value") {
  const std::string layers = "- {type: input, name: x, shape: [$n]}\n";
  CHECK_THAT(refused(layers, "m: 3", "parameters: {n: 1}\n"),
             Contains("s.yaml:1:1: error: the model has no parameter 'm'") &&
                 Contains("it has: n (and scale)"));
  CHECK_THAT(refused(layers, "n: 0", "parameters: {n: 1}\n"),
             Contains("s.yaml:1:4: error: '0' for the parameter 'n': it must be at least 1"));
  CHECK_THAT(refused(layers, "n: 9", "parameters: {n: {default: 1, maximum: 8}}\n"),
             Contains("it must be at most 8"));
  CHECK_THAT(refused(layers, "n: x", "parameters: {n: 1}\n"),
             Contains("'x' for the parameter 'n': expected an integer"));
  CHECK_THAT(refused(layers, "n: 1.5", "parameters: {n: 1}\n"), Contains("expected an integer"));
  CHECK_THAT(refused(layers, "", "parameters: {n: {summary: x}}\n"),
             Contains("the key 'default' is missing in parameter 'n'"));
  CHECK_THAT(refused(layers, "", "parameters: {n: {default: 1, min: 1}}\n"),
             Contains("unknown key 'min'"));
  CHECK_THAT(refused(layers, "", "parameters: {n: 1, scale: 2}\n"),
             Contains("'scale' cannot be a parameter's name"));
  CHECK_THAT(refused(layers, "", "parameters: {n: 1, a-b: 2}\n"),
             Contains("'a-b' cannot be a parameter's name"));
  CHECK_THAT(refused(image, "scale: 0"), Contains("'0' for 'scale': it must be at least 1"));
  CHECK_THAT(refused(image, "scale: 1.5"), Contains("'1.5' for 'scale': expected an integer"));
  CHECK_THAT(refused(image, "file: x.yaml"), Contains("'x.yaml' for 'file' has not been included"));
  CHECK_THAT(error_of([] { read_model(parse_text("scale: 2", "s.yaml")); }),
             Contains("the key 'file' is missing in model"));
}

TEST_CASE("counts that overflow are errors, at the position of the layer or of the scale") {
  CHECK_THAT(refused("- {type: input, shape: [4000000000, 4000000000]}\n"),
             StartsWith("3 m.yaml:4:3: error: elements: "));
  CHECK_THAT(
      refused("- {type: input, shape: [3000000000]}\n- {type: dense, features: 4000000000}\n"),
      StartsWith("3 m.yaml:5:3: error: multiply-accumulates: "));
  CHECK_THAT(
      refused("- {type: input, shape: [3000000000]}\n- {type: dense, features: 2000000000}\n"),
      StartsWith("3 m.yaml:5:3: error: FLOP: "));
  CHECK_THAT(refused(image, "scale: 9000000000000000000"),
             StartsWith("3 s.yaml:1:8: error: elements: "));
  // The reader counts 32 bytes for each element here. In the first model, the number of bytes of each layer fits into
  // 64 bits, but the sum of both numbers does not.
  CHECK_THAT(refused("- {type: input, shape: [200000000000000000]}\n- {type: relu}\n"),
             StartsWith("3 m.yaml:5:3: error: bytes of the layers up to this one: "));
  CHECK_THAT(refused("- {type: input, shape: [5000000000000000000]}\n- {type: relu}\n"),
             StartsWith("3 m.yaml:4:3: error: bytes of the layers up to this one: "));
}

TEST_CASE("a stage table with a wrong running total is refused at the cell of this total") {
  CHECK(table_with(head + "[1, \"Init\", 10, 10, 0, 0], [2, \"Conv\", 5, 15, 3, 4]") == "nothing");
  CHECK_THAT(table_with(head + "[1, \"Init\", 10, 10, 0, 0],\n[2, \"Conv\", 5, 16, 3, 4]"),
             StartsWith("3 t.json:3:16: error: '16' for 'total state': expected 10 + 5"));
  CHECK_THAT(
      table_with(head +
                 "[1, \"Init\", 10, 10, 0, 0],\n[2, \"C\", 5, 15, 3, 4],\n[3, \"C\", 5, 20, 2, 4]"),
      StartsWith(
          "3 t.json:4:17: error: '2' for 'total params': this running total must be at least the running total "
          "of the row before, 3"));
  CHECK_THAT(table_with(head + "[1, \"Init\", 10, 10, 0, 0],\n[3, \"Conv\", 5, 15, 3, 4]"),
             Contains("'3' for 'step': expected 2"));
  CHECK_THAT(table_with(head + "[1, \"Init\", 10, 10, 5, 0]"),
             Contains("the first row is the input"));
  CHECK_THAT(table_with(head + "[1, \"Init\", -10, 10, 0, 0]"),
             Contains("'-10' for 'stage state': expected a count"));
  CHECK_THAT(table_with(head + "[1, \"Init\", 10.0, 10, 0, 0]"),
             Contains("'10.0' for 'stage state': expected a count"));
  CHECK_THAT(table_with(head + "[1, 2, 10, 10, 0, 0]"),
             Contains("'2' for 'action': expected a word"));
  CHECK_THAT(table_with(head + "[1, \"Init\", 10, 10, 0]"),
             Contains("expected a row of 6 cells, got 5"));
  CHECK_THAT(table_with(head + "3"), Contains("expected a row of 6 cells, got no list"));
  CHECK_THAT(table_with("[\"step\"], [1]"), Contains("expected the headings step, action"));
  CHECK_THAT(table_with("[\"step\", \"action\", \"stage state\", \"total state\", \"total FLOPs\", "
                        "\"total params\"], [1]"),
             Contains("'total FLOPs' as the heading of column 5: expected 'total params'"));
  CHECK_THAT(
      error_of([] { read_model(parse_text("{\"definition\": {\"func\": \"f\"}}", "t.json")); }),
      Contains("the key 'data' is missing in stage table"));
  CHECK_THAT(error_of([] { load_model(zoo + "alexnet_data_island.json", {"layers=3"}); }),
             Contains("the model has no parameter 'layers'; it has: none (and scale)"));
}

TEST_CASE("a layer is found by its name, or by its number, which counts from 1") {
  const Model m = load_model(zoo + "alexnet_data_island.json", {});
  const auto at = [&](const std::string& text) { return m.layer_at(parse_text(text, "t")); };
  CHECK(at("16") == 15);
  CHECK(at("5-Conv") == 4);
  CHECK_THAT(error_of([&] { at("20"); }), Contains("the model has no layer 20; expected 1 to 19"));
  CHECK_THAT(error_of([&] { at("0"); }), Contains("the model has no layer 0"));
  CHECK_THAT(error_of([&] { at("5-Cnv"); }),
             Contains("the model has no layer '5-Cnv' (did you mean '5-Conv'?); it has: 1-Init, "));
  CHECK_THAT(error_of([&] { at("[1]"); }),
             Contains("expected a layer's number or name, got a list"));
}
