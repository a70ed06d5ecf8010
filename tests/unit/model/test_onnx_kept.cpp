// Tests the bytes that an imported network keeps for its backward pass. The expected bytes are computed by hand. They
// equal the bytes of the tensors that PyTorch saves.
#include <catch2/catch.hpp>

#include "support/onnx_models.hpp"

using namespace sluice;
using namespace sluice::test;

namespace {

using A = OnnxAttribute;

/// Returns the bytes that are kept for the backward pass of the operator `op`. Each of its inputs is a constant, the
/// weights `learned`, or one of the activations h and z, which have 64 elements.
std::int64_t kept_by(const std::string& op, const std::vector<std::string>& inputs) {
  OnnxBytes onnx;
  onnx.input("x", {1, 64}).scalar("number", 3).weight("learned", {64}).weight("w", {64, 64});
  onnx.node("MatMul", {"x", "w"}, {"h"}, {}, "first");
  onnx.node("Neg", {"h"}, {"z"}, {}, "negated");
  onnx.node(op, inputs, {"y"}, {}, "it").output("y");
  // The product that makes h keeps its input, too. The 256 bytes of this input are subtracted.
  return kept_bytes(read(onnx).model) - 256;
}

}  // namespace

TEST_CASE("a product with a constant keeps no tensor, unless the constant is trained", "[onnx]") {
  CHECK(kept_by("Mul", {"h", "number"}) == 0);
  CHECK(kept_by("Mul", {"h", "learned"}) == 256);
  CHECK(kept_by("Mul", {"h", "z"}) == 512);
  CHECK(kept_by("Div", {"h", "number"}) == 0);
  CHECK(kept_by("Div", {"number", "h"}) == 256);  // the gradient, -number / h^2, needs h
  CHECK(kept_by("Div", {"h", "learned"}) == 256);
  CHECK(kept_by("Div", {"h", "z"}) == 512);
  CHECK(kept_by("Pow", {"h", "number"}) == 256);
  CHECK(kept_by("Max", {"h", "number"}) == 256);
}

TEST_CASE("a selection keeps only its condition, and keeps no tensor if the condition is constant",
          "[onnx]") {
  CHECK(kept_by("Where", {"number", "h", "z"}) == 0);
  OnnxBytes onnx;
  onnx.input("x", {1, 4, 8}).scalar("least", 0).weight("w", {8, 8});
  onnx.node("MatMul", {"x", "w"}, {"h"}, {}, "first");
  onnx.node("Greater", {"h", "least"}, {"c"}, {}, "test");
  onnx.node("Where", {"c", "h", "least"}, {"y"}, {}, "it").output("y");
  // The product keeps its input, which has 4 x 8 elements of 4 bytes. The selection keeps a mask of one byte per
  // element, which has 32 bytes.
  CHECK(kept_bytes(read(onnx).model) == 4 * 8 * 4 + 32);
}

TEST_CASE("attention with a mask keeps queries, keys, values and the softmax's output", "[onnx]") {
  // There are 4 heads of 16 features over 256 words. The network keeps four tensors of 256 x 64 elements: the input, q,
  // k and v. It also keeps the 4 x 256 x 256 scores after the softmax. Each element has 4 bytes.
  OnnxBytes onnx;
  onnx.input("x", {1, 256, 64}).numbers("heads", {1, 256, 4, 16}).scalar("root", 4);
  onnx.scalar("masked", -1e9F).weight("mask", {256, 256}, field(2, std::int64_t{onnx_bool}));
  for (const std::string name : {"q", "k", "v"})
    onnx.weight("w" + name, {64, 64})
        .node("MatMul", {"x", "w" + name}, {name + "0"}, {}, name)
        .node("Reshape", {name + "0", "heads"}, {name + "1"})
        .node("Transpose", {name + "1"}, {name + "2"},
              {A::integers("perm", name == "k" ? std::vector<std::int64_t>{0, 2, 3, 1}
                                               : std::vector<std::int64_t>{0, 2, 1, 3})});
  onnx.node("MatMul", {"q2", "k2"}, {"s"}, {}, "scores")
      .node("Div", {"s", "root"}, {"scaled"}, {}, "scaled")
      .node("Where", {"mask", "scaled", "masked"}, {"m"}, {}, "masked")
      .node("Softmax", {"m"}, {"p"}, {A::integer("axis", -1)}, "softmax")
      .node("MatMul", {"p", "v2"}, {"y"}, {}, "values")
      .output("y");
  CHECK(kept_bytes(read(onnx).model) == 4 * (4 * 256 * 64 + 4 * 256 * 256));
}

TEST_CASE("a group norm without scale and shift has no parameters", "[onnx]") {
  // PyTorch exports a GroupNorm as several nodes. The first one is an InstanceNormalization whose channels are the
  // groups. It has a scale of 1 and a shift of 0. After it come a product with the real scale and a sum with the real
  // shift.
  const auto constant = [](float value) {
    std::string raw(reinterpret_cast<const char*>(&value), sizeof(value));
    raw += raw;
    return A{
        field(1, "value") +
        field(5, field(1, std::int64_t{2}) + field(2, std::int64_t{onnx_float}) + field(9, raw)) +
        field(20, std::int64_t{4})};
  };
  OnnxBytes onnx;
  onnx.input("x", {1, 8, 4, 4}).numbers("groups", {1, 2, -1}).numbers("image", {1, 8, 4, 4});
  onnx.weight("gain", {8, 1, 1}).weight("shift", {8, 1, 1});
  onnx.node("Reshape", {"x", "groups"}, {"g"})
      .node("Constant", {}, {"ones"}, {constant(1)})
      .node("Constant", {}, {"zeros"}, {constant(0)})
      .node("InstanceNormalization", {"g", "ones", "zeros"}, {"n"}, {}, "norm")
      .node("Reshape", {"n", "image"}, {"i"})
      .node("Mul", {"i", "gain"}, {"m"}, {}, "scaled")
      .node("Add", {"m", "shift"}, {"y"}, {}, "shifted")
      .output("y");
  const Model model = read(onnx).model;
  CHECK(model.parameters() == 16);
  CHECK(layer(model, "norm").type == "group_norm");
  CHECK(layer(model, "norm").flop == 5 * 128);
  CHECK(model.flop() == 7 * 128);
}

TEST_CASE("a pool of maxima with dilation keeps the position of each maximum", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {1, 8, 16, 16}).weight("w", {8, 8, 1, 1});
  onnx.node("Conv", {"x", "w"}, {"c"});
  onnx.node("MaxPool", {"c"}, {"y"},
            {A::integers("kernel_shape", {3, 3}), A::integers("dilations", {2, 2})}, "pool");
  onnx.output("y");
  const Model model = read(onnx).model;
  CHECK(layer(model, "pool").type == "max_pool");
  CHECK(layer(model, "pool").shape == Shape{12, 12, 8});
  CHECK(layer(model, "pool").backward.kept_bytes == 12 * 12 * 8 * 8);
  REQUIRE(layer(model, "pool").field);
  CHECK(layer(model, "pool").field->size == Shape{5, 5});
}
