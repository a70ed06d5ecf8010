// Exporters write small constants as nodes that compute them. Tests that the reader evaluates these nodes.
#include <catch2/catch.hpp>

#include "support/onnx_models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;

namespace {

using A = OnnxAttribute;

/// Returns the shape of an image after padding. Before the padding, it has 3 channels and 8 x 10 pixels. Nodes like
/// those of PyTorch's exporter compute from `list` how many zeros are added at each side.
Shape padded(const std::vector<std::int64_t>& list) {
  const auto rest = static_cast<std::int64_t>(8 - list.size());
  OnnxBytes onnx;
  onnx.input("x", {1, 3, 8, 10})
      .numbers("list", list)
      .numbers("rest", {rest})
      .numbers("pairs", {-1, 2})
      .numbers("row", {0})
      .numbers("from", {-1})
      .numbers("to", {-9223372036854775807})
      .numbers("back", {-1})
      .numbers("flat", {-1})
      .node("ConstantOfShape", {"rest"}, {"none"},
            {A{field(1, "value") +
               field(5, field(1, std::int64_t{1}) + field(2, std::int64_t{onnx_int64}) +
                            field(7, std::int64_t{0})) +
               field(20, std::int64_t{4})}})
      .node("Concat", {"list", "none"}, {"all"}, {A::integer("axis", 0)})
      .node("Reshape", {"all", "pairs"}, {"table"})
      .node("Slice", {"table", "from", "to", "row", "back"}, {"turned"})
      .node("Transpose", {"turned"}, {"sides"}, {A::integers("perm", {1, 0})})
      .node("Reshape", {"sides", "flat"}, {"pads"})
      .node("Cast", {"pads"}, {"as_pads"}, {A::integer("to", 7)})
      .node("Pad", {"x", "as_pads"}, {"p"}, {}, "pad")
      .weight("w", {4, 3, 1, 1})
      .node("Conv", {"p", "w"}, {"y"}, {}, "conv")
      .output("y");
  return layer(read(onnx).model, "pad").shape;
}

/// Applies the operator `op` to the table [[1, 2, 3], [4, 5, 6]]. The numbers in the result are then the shape to which
/// a tensor of 720 elements is reshaped. Returns this shape without the batch.
Shape through(const std::string& op, const std::vector<std::string>& inputs,
              const std::vector<A>& attributes, const std::vector<std::int64_t>& more = {}) {
  OnnxBytes onnx;
  onnx.input("x", {1, 720}).numbers("list", {1, 2, 3, 4, 5, 6}).numbers("table", {2, 3});
  onnx.numbers("flat", {-1}).numbers("more", more);
  onnx.numbers("begin", {5, -1}).numbers("end", {0, -4}).numbers("axes", {-1, 0});
  onnx.numbers("steps", {-2, -3});
  onnx.node("Reshape", {"list", "table"}, {"t"}).node(op, inputs, {"o"}, attributes);
  onnx.node("Reshape", {"o", "flat"}, {"f"});
  onnx.node("Concat", {"f", "more"}, {"to"}, {A::integer("axis", 0)});
  onnx.node("Reshape", {"x", "to"}, {"y"}, {}, "it").output("y");
  return layer(read(onnx, "{batch: 1}").model, "it").shape;
}

}  // namespace

TEST_CASE("the zeros of a padding are known if they are computed as in PyTorch's exporter",
          "[onnx]") {
  // The list gives the number of zeros at the left, the right, the top and the bottom.
  CHECK(padded({1, 2, 3, 4}) == Shape{8 + 3 + 4, 10 + 1 + 2, 3});
  CHECK(padded({1, 1}) == Shape{8, 12, 3});
}

TEST_CASE("constant tables are transposed, and are sliced from either end", "[onnx]") {
  // The first number of the result is the batch: 1.
  CHECK(through("Transpose", {"t"}, {}) == Shape{4, 2, 5, 3, 6});
  CHECK(through("Transpose", {"t"}, {A::integers("perm", {0, 1})}) == Shape{2, 3, 4, 5, 6});
  // Along the columns, the slice goes backward in steps of 2. It begins at column 2 and ends before column 0, so it
  // takes only column 2. Along the two rows, it goes backward in steps of 3. It begins at the last row and takes only
  // this row. So of the whole table, the slice takes a single number: 6. The numbers 12 and 10 come from `more`.
  CHECK(through("Slice", {"t", "begin", "end", "axes", "steps"}, {}, {12, 10}) == Shape{6, 12, 10});
}

TEST_CASE(
    "operators that do not compute a table are not folded, and reading the file ends "
    "without a crash",
    "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {1, 6}).numbers("n", {1, 6}).numbers("none", {}).numbers("far", {1LL << 62});
  onnx.node("Slice", {"n", "far", "far", "none", "far"}, {"to"});
  onnx.node("Reshape", {"x", "to"}, {"y"}).output("y");
  CHECK(refused(onnx).substr(0, 2) == "3 ");
}

TEST_CASE("a vector that nodes make and unsqueeze is a scale, and therefore a parameter",
          "[onnx]") {
  // DenseNet's batch norm is exported as y = x * scale + shift. A ConstantOfShape makes `scale` and `shift`, with 4
  // elements each. Then an Unsqueeze gives them the shape [4, 1, 1]. The 4 elements must count as parameters, as if
  // `scale` and `shift` were initialisers.
  const auto scaled = [](bool made) {
    OnnxBytes onnx;
    onnx.input("x", {1, 4, 8, 10}).numbers("channels", {4}).numbers("axes", {1, 2});
    const std::vector<A> ones = {A{field(1, "value") +
                                   field(5, field(1, std::int64_t{1}) + field(2, std::int64_t{1}) +
                                                field(4, std::string("\0\0\x80\x3f", 4))) +
                                   field(20, std::int64_t{4})}};
    for (const char* name : {"scale", "shift"}) {
      if (made)
        onnx.node("ConstantOfShape", {"channels"}, {name}, ones);
      else
        onnx.weight(name, {4});
      onnx.node("Unsqueeze", {name, "axes"}, {std::string(name) + "_by_channel"});
    }
    onnx.node("Mul", {"x", "scale_by_channel"}, {"m"}, {}, "mul");
    onnx.node("Add", {"m", "shift_by_channel"}, {"y"}, {}, "add").output("y");
    return read(onnx).model;
  };
  for (const bool made : {false, true}) {
    const Model model = scaled(made);
    CHECK(layer(model, "mul").parameters == 4);
    CHECK(layer(model, "add").parameters == 4);
    CHECK(model.parameters() == 8);
  }
}
