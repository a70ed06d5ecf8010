// Tests quantised ONNX files: integers, DequantizeLinear, and the operators that read such integers.
#include <catch2/catch.hpp>

#include "support/onnx_models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;

namespace {

using A = OnnxAttribute;

// The bytes of a field that sets the element type of a tensor to int8. Before this field, another field sets the type
// to float. If a message sets a field twice, the last value is used.
const std::string int8 = field(2, std::int64_t{3});

}  // namespace

TEST_CASE("dequantised integers are weights, but their scales are not weights", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {"N", 512})
      .weight("w", {1000, 512}, int8)
      .weight("s", {1000})
      .weight("z", {1000}, int8)
      .weight("b", {1000})
      .node("DequantizeLinear", {"w", "s", "z"}, {"wd"}, {A::integer("axis", 0)}, "numbers")
      .node("Gemm", {"x", "wd", "b"}, {"y"}, {A::integer("transB", 1)}, "fc")
      .output("y");
  const ReadOnnx got = read(onnx);
  CHECK(types(got.model) == "input dense");
  CHECK(got.model.parameters() == 512 * 1000 + 1000);
  CHECK(got.elements.learned == 513000);
  CHECK(got.elements.quantised == 512000);
  CHECK(got.elements.unused == 1000);  // these are the scales, which are not parameters
  REQUIRE(got.notes.size() == 2);
  CHECK(
      got.notes[0] ==
      "512000 elements of quantised weights are parameters; the scales and zero points of these weights are not "
      "parameters");
}

TEST_CASE("quantised activations have no parameters", "[onnx]") {
  OnnxBytes onnx;
  onnx.opset(13)
      .input("x", {1, 8, 16, 16})
      .weight("w", {8, 8, 3, 3}, int8)
      .weight("s", {})
      .weight("z", {}, int8)
      .weight("each", {8})
      .weight("each_z", {8}, int8)
      .node("QuantizeLinear", {"x", "each", "each_z"}, {"q"}, {}, "to")
      .node("DequantizeLinear", {"q", "each", "each_z"}, {"d"}, {}, "from")
      .node("DequantizeLinear", {"w", "s", "z"}, {"wd"})
      .node("Conv", {"d", "wd"}, {"c"}, {A::integers("pads", {1, 1, 1, 1})}, "conv")
      .node("Conv", {"c", "wd"}, {"y"}, {}, "again")
      .output("y");
  const Model model = read(onnx).model;
  CHECK(types(model) == "input operator operator conv2d conv2d");
  CHECK(model.parameters() == 8 * 8 * 9);
  CHECK(layer(model, "to").parameters == 0);
  CHECK(layer(model, "again").shared == 8 * 8 * 9);
  REQUIRE(layer(model, "conv").field);
  CHECK(layer(model, "conv").field->size == Shape{3, 3});
}
