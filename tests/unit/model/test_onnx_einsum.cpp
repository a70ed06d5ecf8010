// Tests Einsum, TopK, and operators whose shapes cannot be inferred. The user gives these shapes.
#include <catch2/catch.hpp>

#include "model/onnx/einsum.hpp"
#include "support/onnx_models.hpp"

using namespace sluice;
using namespace sluice::test;
using namespace sluice::onnx_import;
using Catch::Matchers::Contains;

namespace {

using A = OnnxAttribute;

Shape shape_of(const std::string& equation, const std::vector<Shape>& inputs) {
  return einsum_of(equation, inputs).shape();
}

}  // namespace

TEST_CASE("an equation gives the shape of the output, and the number of products that are summed",
          "[onnx]") {
  CHECK(shape_of("bij,jk->bik", {{2, 5, 16}, {16, 24}}) == Shape{2, 5, 24});
  CHECK(einsum_of("bij,jk->bik", {{2, 5, 16}, {16, 24}}).summed() == 16);
  CHECK(shape_of("ba,ac", {{2, 3}, {3, 4}}) == Shape{2, 4});
  // If an equation does not name its output, the axes of the output are in alphabetical order.
  CHECK(shape_of("cb", {{2, 3}}) == Shape{3, 2});
  CHECK(shape_of("ii -> i", {{4, 4}}) == Shape{4});
  CHECK(shape_of("...ij,...jk->...ik", {{2, 3, 4, 5}, {3, 5, 6}}) == Shape{2, 3, 4, 6});
  CHECK(shape_of("...i->...", {{2, 3, 4}}) == Shape{2, 3});
  CHECK(einsum_of("ij->", {{3, 4}}).summed() == 12);
  for (const char* wrong :
       {"ij,jk", "i", "ijk", "i.->i", "i1->i", "ij->ii", "ij->k", "......", "."})
    CHECK(error_of([&] { einsum_of(wrong, {{3, 4}}); }).substr(0, 2) == "3 ");
  CHECK_THAT(error_of([&] {
               einsum_of("ij,jk->ik", {{3, 4}, {5, 6}});
             }),
             Contains("one axis has the different extents 4 and 5"));
}

TEST_CASE("Einsum becomes a product of matrices if its equation describes such a product",
          "[onnx]") {
  OnnxBytes weights;
  weights.input("x", {"N", 5, 16}).weight("w", {16, 24});
  weights.node("Einsum", {"x", "w"}, {"y"}, {A::text("equation", "bij,jk->bik")}, "e").output("y");
  const Model model = read(weights).model;
  CHECK(layer(model, "e").shape == Shape{5, 24});
  CHECK(layer(model, "e").macs == 5 * 24 * 16);
  CHECK(layer(model, "e").parameters == 16 * 24);
  CHECK(layer(model, "e").backward.weight_flop == 2 * 5 * 24 * 16);
  OnnxBytes scores;
  scores.input("q", {"N", 4, 5, 16}).input("k", {"N", 4, 7, 16}).input("v", {"N", 4, 7, 8});
  scores.node("Einsum", {"q", "k"}, {"s"}, {A::text("equation", "bhid,bhjd->bhij")}, "scores")
      .node("Einsum", {"s", "v"}, {"y"}, {A::text("equation", "bhij,bhjd->bhid")}, "values")
      .output("y");
  const Model attention = read(scores, "{batch: 3}").model;
  CHECK(layer(attention, "scores").type == "batched_matmul");
  CHECK(layer(attention, "scores").macs == 4 * 5 * 7 * 16);
  CHECK(layer(attention, "values").type == "batched_matmul");
  CHECK(layer(attention, "values").shape == Shape{4, 5, 8});
  OnnxBytes wrong;
  wrong.input("x", {"N", 5, 16}).weight("w", {15, 24});
  wrong.node("Einsum", {"x", "w"}, {"y"}, {A::text("equation", "bij,jk->bik")}, "e").output("y");
  CHECK_THAT(refused(wrong), Contains("m.onnx:1:1: error: Einsum is not possible: "));
}

TEST_CASE("TopK becomes a layer top_k for the values, and a layer for the indices", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {"N", 6, 12}).numbers("k", {3});
  onnx.node("TopK", {"x", "k"}, {"v", "i"}, {}, "top").output("v").output("i");
  const Model model = read(onnx).model;
  CHECK(layer(model, "top").type == "top_k");
  CHECK(layer(model, "top").shape == Shape{6, 3});
  CHECK(layer(model, "top").flop == 6 * 12 * 3);
  OnnxBytes row;
  row.input("x", {"N", 12}).numbers("k", {3}).weight("w", {12, 12});
  row.node("MatMul", {"x", "w"}, {"h"});
  row.node("TopK", {"h", "k"}, {"v", "i"}, {}, "top").output("v");
  const Model one = read(row).model;
  CHECK(layer(one, "top").shape == Shape{3});
  CHECK(layer(one, "top").flop == 12 * 3);
  CHECK(layer(one, "top").backward.kept_bytes == 3 * 8);
}

TEST_CASE("a shape that cannot be inferred may be given by the name of the tensor", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {"N", 6});
  onnx.node("NonZero", {"x"}, {"places"}, {}, "where").node("Neg", {"places"}, {"y"}).output("y");
  CHECK_THAT(
      refused(onnx, "{as_zero: [NonZero]}"),
      Contains("the shape of 'places' is not known") &&
          Contains("give the shape, including the batch, such as shapes={places: [1, 128]}"));
  const Model model = read(onnx, "{as_zero: [NonZero], shapes: {places: [2, 4]}}").model;
  CHECK(model.layers.back().shape == Shape{2, 4});
  CHECK_THAT(refused(onnx, "{as_zero: [NonZero], shapes: {places: [2, 4], x: [6]}}"),
             Contains("s.yaml:1:") && Contains("'x' in 'shapes': expected a tensor that a node"));
  CHECK_THAT(refused(onnx, "{as_zero: [NonZero], shapes: {places: [2, 0]}}"),
             Contains("'0' in the shape of 'places': expected an integer of at least 1"));
  CHECK_THAT(refused(onnx, "{as_zero: [NonZero], shapes: {places: 4}}"),
             Contains("expected a list of extents"));
}

TEST_CASE("a loop reads the tensors that its body takes from the surrounding graph", "[onnx]") {
  const std::string body =
      field(1, field(1, "h") + field(1, "table") + field(2, "inner") + field(4, "MatMul"));
  OnnxBytes onnx;
  onnx.input("x", {"N", 6}).weight("w", {6, 4}).weight("table", {4, 5}).numbers("times", {3});
  onnx.node("MatMul", {"x", "w"}, {"h"}, {}, "first");
  onnx.node("Loop", {"times"}, {"y"}, {A::graph("body", body)}, "loop").output("y");
  const Model model = read(onnx, "{as_zero: [Loop], shapes: {y: [1, 5]}}").model;
  CHECK(types(model) == "input dense operator");
  CHECK(model.parameters() == 24 + 20);
  CHECK(layer(model, "loop").shape == Shape{5});
}
