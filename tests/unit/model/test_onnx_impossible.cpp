// Tests impossible ONNX graphs, in which an operator has inputs of impossible shapes. The reader must report an error
// at the node of the operator instead of inventing counts.
#include <catch2/catch.hpp>

#include "support/onnx_models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using A = OnnxAttribute;

/// Returns a model with the single operator `op`. The operator reads an image of 8 channels, and weights of the shape
/// `weight`.
OnnxBytes of_image(const std::string& op, const std::vector<std::int64_t>& weight,
                   const std::vector<A>& attributes = {}) {
  OnnxBytes onnx;
  onnx.input("x", {1, 8, 16, 16}).weight("w", weight);
  onnx.node(op, {"x", "w"}, {"y"}, attributes, "conv").output("y");
  return onnx;
}

}  // namespace

TEST_CASE("convolutions whose input does not fit are errors at the node", "[onnx]") {
  CHECK(refused(of_image("Conv", {8, 8, 17, 17}, {A::integers("strides", {2, 2})})) ==
        "3 m.onnx:1:1: error: Conv as conv2d: '17' for 'kernel': larger than the input [16, 16, 8] "
        "with a padding of 0, expected at most 16\n    conv: Conv(x, w) -> y\n    ^");
  CHECK_THAT(refused(of_image("Conv", {8, 8, 18, 18}, {A::integers("strides", {1, 1})})),
             Contains("Conv is not possible: its output would have an extent of -1"));
  CHECK_THAT(refused(of_image("Conv", {8, 5, 3, 3})),
             Contains("Conv: the input [1, 8, 16, 16] has 8 channels, but the weights [8, 5, 3, 3] "
                      "are for 1 x 5"));
  CHECK_THAT(refused(of_image("Conv", {8, 8, 3, 3}, {A::integer("group", 3)})),
             Contains("'3' for 'group': expected a divisor of the 8 output channels"));
  CHECK_THAT(refused(of_image("Conv", {8, 8, 3, 3}, {A::integers("strides", {0, 0})})),
             Contains("Conv is not possible: 'strides' is not positive"));
  CHECK_THAT(refused(of_image("Conv", {8, 8, 3, 3}, {A::integers("kernel_shape", {5, 5})})),
             Contains("'kernel_shape' is [5, 5], but the weights [8, 8, 3, 3] have a kernel of [3, "
                      "3]"));
  CHECK_THAT(refused(of_image("ConvTranspose", {5, 8, 3, 3})),
             Contains("the input [1, 8, 16, 16] has 8 channels, but the weights [5, 8, 3, 3] are "
                      "for 5"));
}

TEST_CASE("products, sums and normalisations with incompatible extents are errors", "[onnx]") {
  OnnxBytes product;
  product.input("x", {1, 4}).weight("w", {7, 5});
  product.node("MatMul", {"x", "w"}, {"y"}).shape("y", {1, 5}).output("y");
  CHECK_THAT(refused(product), StartsWith("3 m.onnx:1:1: error: MatMul is not possible: "));
  OnnxBytes gemm;
  gemm.input("x", {1, 4}).weight("w", {7, 5}).node("Gemm", {"x", "w"}, {"y"}).output("y");
  CHECK_THAT(refused(gemm), Contains("a product of [1, 4] and [7, 5], whose inner extents differ"));
  OnnxBytes sum;
  sum.input("x", {1, 4}).weight("w", {3});
  sum.node("Add", {"x", "w"}, {"y"}).shape("y", {1, 4}).output("y");
  CHECK_THAT(refused(sum), StartsWith("3 m.onnx:1:1: error: Add is not possible: "));
  OnnxBytes norm;
  norm.input("x", {1, 8, 4, 4}).weight("a", {3}).weight("b", {8}).weight("c", {8}).weight("d", {8});
  norm.node("BatchNormalization", {"x", "a", "b", "c", "d"}, {"y"}).output("y");
  CHECK_THAT(refused(norm),
             Contains("'a' has 3 elements, expected one for each of the 8 channels"));
  OnnxBytes lstm;
  lstm.input("x", {7, 1, 10}).weight("w", {1, 80, 9}).weight("r", {1, 80, 20});
  lstm.node("LSTM", {"x", "w", "r"}, {"y"}).output("y");
  CHECK_THAT(refused(lstm, "{batch: 1}"), Contains("expected [1, 80, 10] and [1, 80, 20]"));
}

TEST_CASE("a reshape must keep the number of elements, and the shapes in the file must be right",
          "[onnx]") {
  OnnxBytes rest;
  rest.input("x", {"N", 12}).numbers("to", {-1, 5, 3});
  rest.node("Reshape", {"x", "to"}, {"y"}).shape("y", {"N", 5, 3}).output("y");
  CHECK_THAT(refused(rest), Contains("Reshape is not possible: "));
  OnnxBytes whole;
  whole.input("x", {1, 12}).numbers("to", {1, 5, 3});
  whole.node("Reshape", {"x", "to"}, {"y"}).output("y");
  CHECK_THAT(refused(whole),
             Contains("the input [1, 12] has 12 elements, the output [1, 5, 3] 15"));
  OnnxBytes lie;
  lie.input("x", {1, 8}).node("Relu", {"x"}, {"y"}).shape("y", {1, 9}).output("y");
  CHECK_THAT(refused(lie), Contains("the file says that 'y' is of the shape [1, 9], but Relu makes "
                                    "[1, 8]"));
  // The exporter wrote the extents that `y` has for its example input. If the user gives other extents, they replace
  // the extents of the file.
  OnnxBytes example;
  example.input("x", {"N", "words", 8})
      .node("Relu", {"x"}, {"y"})
      .shape("y", {1, 9, 8})
      .output("y");
  CHECK(layer(read(example, "{words: 4}").model, "x").shape == Shape{4, 8});
}

TEST_CASE("an image whose given extents are too small for the network is an error", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {"N", 8, "height", "width"}).weight("w", {8, 8, 3, 3});
  onnx.node("Conv", {"x", "w"}, {"y"}, {A::integers("strides", {2, 2})}, "conv").output("y");
  CHECK(layer(read(onnx, "{height: 5, width: 3}").model, "conv").shape == Shape{2, 1, 8});
  CHECK_THAT(refused(onnx, "{height: 2, width: 2}"), Contains("'3' for 'kernel': larger than"));
}

TEST_CASE("a node that no layer type can express becomes an operator, and a note says why",
          "[onnx]") {
  const ReadOnnx cropped =
      read(of_image("Conv", {4, 8, 3, 3}, {A::integers("pads", {-1, -1, -1, -1})}));
  CHECK(types(cropped.model) == "input operator");
  CHECK(cropped.model.macs() == 12 * 12 * 4 * 72);  // 16 - 2 - 3 + 1 pixels along each axis
  REQUIRE(cropped.notes.size() == 1);
  CHECK(cropped.notes[0] ==
        "counted as layers of type 'operator', with a cost per element, because no layer type has "
        "a negative padding: conv");
  OnnxBytes whole;  // the four images are one sample
  whole.input("x", {4, 8, 16, 16}).weight("w", {4, 8, 3, 3});
  whole.node("Conv", {"x", "w"}, {"y"}, {}, "conv").output("y");
  const ReadOnnx one = read(whole, "{batch: 1}");
  CHECK(one.model.macs() == 4 * 14 * 14 * 4 * 72);
  REQUIRE(one.notes.size() == 1);
  CHECK_THAT(one.notes[0], Contains("no layer type has a first axis that is not the batch: conv"));
}

TEST_CASE("windows of a pool do not begin after the end of the image", "[onnx]") {
  // The image has 5 pixels along an axis, at the positions 0 to 4, and a zero on each side. With a stride of 2, windows
  // begin at the positions -1, 1 and 3. A window at position 5 would contain no pixel of the image, so there is no such
  // window.
  OnnxBytes onnx;
  onnx.input("x", {1, 4, 5, 5});
  onnx.node("MaxPool", {"x"}, {"y"},
            {A::integers("kernel_shape", {2, 2}), A::integers("strides", {2, 2}),
             A::integers("pads", {1, 1, 1, 1}), A::integer("ceil_mode", 1)},
            "pool");
  onnx.output("y");
  const Model model = read(onnx).model;
  CHECK(types(model) == "input max_pool");
  CHECK(layer(model, "pool").shape == Shape{3, 3, 4});
}
