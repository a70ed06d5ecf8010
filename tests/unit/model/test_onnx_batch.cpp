// Tests which axis of an ONNX file is the batch. Also tests samples that consist of several sequences or images. A
// second axis counts these sequences or images.
#include <catch2/catch.hpp>

#include "support/onnx_models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;

namespace {

using A = OnnxAttribute;

/// Returns the layer LSTM(10, 20) as PyTorch exports it. The first axis of its input counts the steps.
OnnxBytes lstm(const std::vector<OnnxDim>& input) {
  OnnxBytes onnx;
  onnx.input("x", input)
      .weight("w", {1, 80, 10})
      .weight("r", {1, 80, 20})
      .weight("b", {1, 160})
      .numbers("directions", {1})
      .node("LSTM", {"x", "w", "r", "b"}, {"y0"}, {A::integer("hidden_size", 20)}, "lstm")
      .node("Squeeze", {"y0", "directions"}, {"y"}, {}, "squeeze")
      .output("y");
  return onnx;
}

// Each of 7 steps has 80 x 30 multiply-accumulates of 2 FLOP, 160 additions of a bias, and 22 FLOP for each of 20
// values.
constexpr std::int64_t flop = 7 * (2 * 80 * 30 + 160 + 22 * 20);

}  // namespace

TEST_CASE("an axis that is named batch is the batch, at any position", "[onnx]") {
  for (const char* use : {"{}", "{batch: 1}", "{batch: 2}", "{batch: 7}", "{batch: 14}"}) {
    INFO(use);
    const Model model = read(lstm({7, "batch", 10}), use).model;
    CHECK(layer(model, "x").shape == Shape{7, 10});
    CHECK(layer(model, "lstm").type == "lstm");
    CHECK(layer(model, "lstm").shape == Shape{7, 20});
    CHECK(model.flop() == flop);
    CHECK(model.parameters() == 80 * 30 + 160);
  }
  const Model both = read(lstm({"seq", "batch", 10}), "{seq: 7, batch: 2}").model;
  CHECK(both.flop() == flop);
  CHECK_THAT(refused(lstm({"seq", "batch", 10}), "{batch: 2}"), Contains("the extents of seq"));
  OnnxBytes second;  // only the second input has a batch axis
  second.input("a", {3, 4}).input("x", {"batch", 8}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(layer(read(second, "{batch: 6}").model, "x").shape == Shape{8});
}

TEST_CASE("a recurrent layer may have several sequences in a sample", "[onnx]") {
  const Model one = read(lstm({7, 1, 10}), "{batch: 1}").model;
  CHECK(one.flop() == flop);
  CHECK(backward_flop(one) == 60200);
  CHECK(kept_bytes(one) == 3640);
  const Model two = read(lstm({7, 2, 10}), "{batch: 1}").model;
  CHECK(layer(two, "lstm").type == "lstm");
  CHECK(layer(two, "lstm").shape == Shape{7, 2, 20});
  CHECK(two.flop() == 2 * flop);
  CHECK(backward_flop(two) == 2 * 60200);
  CHECK(kept_bytes(two) == 2 * 3640);
  CHECK(two.parameters() == one.parameters());
  CHECK_THAT(
      refused(lstm({7, 2, 10})),
      Contains(
          "a batch of 7 does not leave whole sequences of 7 steps in [7, 2, 10]; use batch=1 to count the "
          "whole input as one sample"));
}

TEST_CASE("a transpose that moves only the axis of the batch or of the channels is not a layer",
          "[onnx]") {
  OnnxBytes onnx;  // the channels are the last axis, as in Sluice
  onnx.input("x", {"N", 15, 17, 3}).weight("w", {4, 3, 3, 3});
  onnx.node("Transpose", {"x"}, {"t"}, {A::integers("perm", {0, 3, 1, 2})}, "first")
      .node("Conv", {"t", "w"}, {"c"}, {A::integers("strides", {2, 2})}, "conv")
      .node("Transpose", {"c"}, {"y"}, {A::integers("perm", {0, 2, 3, 1})}, "last")
      .node("Relu", {"y"}, {"z"}, {}, "relu")
      .output("z");
  const Model model = read(onnx).model;
  CHECK(types(model) == "input conv2d relu");
  REQUIRE(layer(model, "relu").field);
  CHECK(layer(model, "relu").field->size == Shape{3, 3});
  CHECK(layer(model, "relu").field->jump == Shape{2, 2});
}

TEST_CASE("zeros around an image do not change the receptive field", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {1, 3, 8, 8}).numbers("pads", {0, 0, 1, 1, 0, 0, 1, 1}).weight("w", {4, 3, 3, 3});
  onnx.node("Pad", {"x", "pads"}, {"p"}, {}, "pad").node("Conv", {"p", "w"}, {"y"}, {}, "conv");
  onnx.output("y");
  const Model model = read(onnx).model;
  REQUIRE(layer(model, "conv").field);
  CHECK(layer(model, "conv").field->size == Shape{3, 3});
  CHECK(layer(model, "conv").shape == Shape{8, 8, 4});
}

TEST_CASE("a transposed convolution with a given output shape has the padding for that shape",
          "[onnx]") {
  const auto read_one = [](const std::vector<A>& attributes) {
    OnnxBytes onnx;
    onnx.input("x", {1, 8, 16, 16})
        .weight("w", {8, 4, 3, 3})
        .weight("b", {4})
        .weight("v", {8, 8, 1, 1});
    onnx.node("Conv", {"x", "v"}, {"a"}, {}, "first");
    onnx.node("ConvTranspose", {"a", "w", "b"}, {"y"}, attributes, "up").output("y");
    return read(onnx);
  };
  const A strides = A::integers("strides", {2, 2});
  // Without padding, the result has 15 x 2 + 3 = 33 rows and columns. One row and one column are cut off.
  for (const ReadOnnx& got : {read_one({strides, A::integers("output_shape", {32, 32})}),
                              read_one({strides, A::text("auto_pad", "SAME_UPPER")})}) {
    const Layer& up = layer(got.model, "up");
    CHECK(up.type == "conv_transpose2d");
    CHECK(up.shape == Shape{32, 32, 4});
    CHECK(up.macs == 16 * 16 * 8 * 4 * 9);
    CHECK(up.flop == 2 * up.macs + 32 * 32 * 4);
    CHECK(up.backward.input_flop == 2 * up.macs);
    CHECK(up.backward.weight_flop == 2 * up.macs + 32 * 32 * 4);
    CHECK(got.notes.empty());
  }
  // The file says that the output has 34 rows and columns, but no window reaches row 34. So the layer gets the type
  // `operator`. It has as many products as the convolution.
  const ReadOnnx larger = read_one({strides, A::integers("output_shape", {34, 34})});
  CHECK(layer(larger.model, "up").type == "operator");
  CHECK(layer(larger.model, "up").macs == 16 * 16 * 8 * 4 * 9);
  CHECK(layer(larger.model, "up").backward.weight_flop == 2 * 16 * 16 * 8 * 4 * 9);
  REQUIRE(larger.notes.size() == 1);
  CHECK_THAT(larger.notes[0], Contains("an output with elements that no window reaches: up"));
}

TEST_CASE("a note says that a file may contain the same table twice, once transposed", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("ids", {"N", 10}, onnx_int64).weight("e", {100, 64}).weight("h", {64, 100});
  onnx.node("Gather", {"e", "ids"}, {"x"}, {}, "words")
      .node("MatMul", {"x", "h"}, {"y"}, {}, "head");
  onnx.output("y");
  const ReadOnnx got = read(onnx);
  CHECK(got.model.parameters() == 2 * 6400);
  REQUIRE(got.notes.size() == 1);
  CHECK(
      got.notes[0] ==
      "the weights [64, 100] of head may be the table of words, transposed: if an exporter wrote the table twice, "
      "its 6400 parameters count twice");
  OnnxBytes tied;
  tied.input("ids", {"N", 10}, onnx_int64).weight("e", {100, 64});
  tied.node("Gather", {"e", "ids"}, {"x"}, {}, "words")
      .node("Transpose", {"e"}, {"h"}, {A::integers("perm", {1, 0})})
      .node("MatMul", {"x", "h"}, {"y"}, {}, "head")
      .output("y");
  CHECK(read(tied).model.parameters() == 6400);
  CHECK(read(tied).notes.empty());
}
