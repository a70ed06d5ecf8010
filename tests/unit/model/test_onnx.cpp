// Tests how ONNX models become documents of the format sluice-model/1. The comments next to shapes, parameters and MACs
// show how each number is computed.
#include "support/onnx_case.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using namespace sluice::onnx_case;

TEST_CASE(
    "a convolutional network keeps its counts, and the channels of images become the last "
    "axis",
    "[onnx]") {
  const ReadOnnx got = read(small_cnn());
  CHECK(types(got.model) == "input conv2d batch_norm relu max_pool reshape dense");
  CHECK(layer(got.model, "x").shape == Shape{8, 8, 3});
  CHECK(layer(got.model, "conv").shape == Shape{4, 4, 4});  // (8 + 2 - 3) / 2 + 1
  CHECK(layer(got.model, "conv").parameters == 4 * 27 + 4);
  CHECK(layer(got.model, "conv").macs == 16 * 4 * 27);
  CHECK(layer(got.model, "bn").parameters == 8);
  CHECK(layer(got.model, "pool").shape == Shape{2, 2, 4});
  CHECK(layer(got.model, "flat").shape == Shape{16});
  CHECK(layer(got.model, "fc").parameters == 170);
  CHECK(layer(got.model, "fc").macs == 160);
  CHECK(got.model.parameters() == 112 + 8 + 170);
  CHECK(got.elements.learned == 290);
  CHECK(got.elements.statistics == 8);
  CHECK(got.elements.unused == 0);
}

TEST_CASE("the batch changes no count, and a model that is written and read back is equal",
          "[onnx]") {
  const ReadOnnx one = read(small_cnn()), eight = read(small_cnn(), "{batch: 8}"),
                 named = read(small_cnn(), "{N: 3}");
  Value again = Value::make_map();
  again.set("definition", parse_text(to_yaml(one.definition), "again.yaml"));
  const Model written = read_model(again);
  for (const Model* model : {&eight.model, &named.model, &written}) {
    REQUIRE(model->layers.size() == one.model.layers.size());
    for (std::size_t i = 0; i < model->layers.size(); ++i) {
      CHECK(model->layers[i].name == one.model.layers[i].name);
      CHECK(model->layers[i].shape == one.model.layers[i].shape);
      CHECK(model->layers[i].parameters == one.model.layers[i].parameters);
      CHECK(model->layers[i].flop == one.model.layers[i].flop);
      CHECK(model->layers[i].inputs == one.model.layers[i].inputs);
    }
  }
}

TEST_CASE(
    "an attention block with products of activations and embeddings of words and positions is read",
    "[onnx]") {
  OnnxBytes onnx;
  onnx.opset(17)
      .input("ids", {"N", "words"}, onnx_int64)
      .weight("table", {50, 8})
      .weight("positions", {6, 8})
      .weight("gain", {8})
      .weight("shift", {8})
      .weight("wq", {8, 8})
      .weight("bq", {8})
      .scalar("root", 2)
      .numbers("heads", {0, 0, 2, 4})
      .node("Gather", {"table", "ids"}, {"e"}, {}, "words")
      .node("Add", {"e", "positions"}, {"h"}, {}, "place")
      .node("LayerNormalization", {"h", "gain", "shift"}, {"n"}, {}, "norm")
      .node("MatMul", {"n", "wq"}, {"q0"}, {}, "query")
      .node("Add", {"bq", "q0"}, {"q1"}, {}, "query_bias")
      .node("Reshape", {"q1", "heads"}, {"q2"}, {}, "split")
      .node("Transpose", {"q2"}, {"q"}, {A::integers("perm", {0, 2, 1, 3})}, "turn")
      .node("Transpose", {"q2"}, {"k"}, {A::integers("perm", {0, 2, 3, 1})}, "turn_k")
      .node("MatMul", {"q", "k"}, {"s"}, {}, "scores")
      .node("Div", {"s", "root"}, {"scaled"}, {}, "scale")
      .node("Softmax", {"scaled"}, {"p"}, {A::integer("axis", -1)}, "softmax")
      .node("MatMul", {"p", "q"}, {"o"}, {}, "values")
      .output("o");
  const ReadOnnx got = read(onnx, "{words: 6}");
  const Model& model = got.model;
  CHECK(layer(model, "words").type == "embedding");
  CHECK(layer(model, "words").shape == Shape{6, 8});
  CHECK(layer(model, "words").parameters == 400);
  CHECK(layer(model, "place").parameters == 48);
  CHECK(layer(model, "place").flop == 48);
  CHECK(layer(model, "norm").type == "layer_norm");
  CHECK(layer(model, "norm").parameters == 16);
  CHECK(layer(model, "query").type == "matmul");
  CHECK(layer(model, "query").macs == 6 * 8 * 8);
  CHECK(layer(model, "query_bias").parameters == 8);
  CHECK(layer(model, "split").shape == Shape{6, 2, 4});
  CHECK(layer(model, "turn").type == "transpose");
  CHECK(layer(model, "turn").shape == Shape{2, 6, 4});
  CHECK(layer(model, "turn_k").shape == Shape{2, 4, 6});
  CHECK(layer(model, "turn").flop == 0);
  CHECK(layer(model, "scores").type == "batched_matmul");
  CHECK(layer(model, "scores").shape == Shape{2, 6, 6});
  CHECK(layer(model, "scores").macs == 2 * 6 * 6 * 4);  // 4 features per head
  CHECK(layer(model, "scale").parameters == 0);         // a scalar constant is not a parameter
  CHECK(layer(model, "scale").flop == 72);
  // The product `values` has 2 x 6 x 4 = 48 outputs. Each output is a weighted sum over 6 words.
  CHECK(layer(model, "values").macs == 2 * 6 * 4 * 6);
  CHECK(model.parameters() == 400 + 48 + 16 + 64 + 8);
  CHECK(got.elements.learned == model.parameters());
  CHECK(got.elements.unused == 1);  // the scalar constant
}

TEST_CASE("constants are computed when a file is read, also with floating-point scales", "[onnx]") {
  // These nodes double the height and the width with the operators that exporters write: cast, multiply, floor, cast.
  OnnxBytes onnx;
  onnx.input("x", {1, 2, 5, 7})
      .numbers("begin", {2})
      .numbers("end", {4})
      .scalar("two", 2)
      .numbers("head", {1, 2})
      .node("Shape", {"x"}, {"s"})
      .node("Slice", {"s", "begin", "end"}, {"hw"})
      .node("Cast", {"hw"}, {"real"}, {A::integer("to", 1)})
      .node("Mul", {"real", "two"}, {"doubled"})
      .node("Floor", {"doubled"}, {"whole"})
      .node("Cast", {"whole"}, {"size"}, {A::integer("to", 7)})
      .node("Concat", {"head", "size"}, {"sizes"}, {A::integer("axis", 0)})
      .node("Resize", {"x", "", "", "sizes"}, {"y"}, {A::text("mode", "linear")}, "up")
      .output("y");
  const Model model = read(onnx).model;
  CHECK(types(model) == "input operator");
  CHECK(layer(model, "up").output == 2 * 10 * 14);
  CHECK(layer(model, "up").flop == 7 * 2 * 10 * 14);
}

TEST_CASE(
    "convolutions with groups, dilation, one or three axes, and transposed convolutions have the shapes that ONNX "
    "infers",
    "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {1, 4, 9, 9})
      .weight("w", {8, 2, 3, 3})
      .node("Conv", {"x", "w"}, {"a"}, {A::integer("group", 2), A::integers("dilations", {2, 2})},
            "grouped")
      .weight("t", {8, 3, 2, 2})
      .node("ConvTranspose", {"a", "t"}, {"b"}, {A::integers("strides", {2, 2})}, "up")
      .node("GlobalAveragePool", {"b"}, {"c"}, {}, "mean")
      .output("c");
  const Model model = read(onnx).model;
  CHECK(layer(model, "grouped").type == "conv2d");
  CHECK(layer(model, "grouped").shape == Shape{5, 5, 8});  // 9 - (2 x 2 + 1) + 1
  CHECK(layer(model, "grouped").parameters == 8 * 2 * 9);
  CHECK(layer(model, "grouped").macs == 25 * 8 * 2 * 9);
  CHECK(layer(model, "up").type == "conv_transpose2d");
  CHECK(layer(model, "up").shape == Shape{10, 10, 3});  // 4 x 2 + 2
  CHECK(layer(model, "up").macs == 25 * 8 * 3 * 4);
  CHECK(layer(model, "mean").shape == Shape{1, 1, 3});
}

TEST_CASE("branches are joined by sums, products and concatenations along the channels", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {2, 3, 4, 4})
      .weight("w", {5, 3, 1, 1})
      .node("Conv", {"x", "w"}, {"a"}, {}, "a")
      .node("Sigmoid", {"a"}, {"g"}, {}, "gate")
      .node("Mul", {"a", "g"}, {"m"}, {}, "mul")
      .node("Concat", {"m", "x"}, {"c"}, {A::integer("axis", 1)}, "concat")
      .node("Split", {"c"}, {"left", "right"}, {A::integer("axis", 1)}, "split")
      .node("Sub", {"left", "right"}, {"d"}, {}, "sub")
      .output("d");
  const Model model = read(onnx).model;  // the batch of the file is two samples
  CHECK(layer(model, "x").shape == Shape{4, 4, 3});
  CHECK(layer(model, "mul").type == "mul");
  CHECK(layer(model, "concat").type == "concat");
  CHECK(layer(model, "concat").shape == Shape{4, 4, 8});
  CHECK(layer(model, "split").type == "split");
  CHECK(layer(model, "split").shape == Shape{4, 4, 4});
  CHECK(layer(model, "split_2").shape == Shape{4, 4, 4});
  CHECK(layer(model, "sub").flop == 64);
  CHECK(layer(model, "sub").type == "operator");
}

TEST_CASE("slices and permutations are views, whose axes have the numbers that layers use",
          "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {1, 3, 8, 10})
      .weight("w", {6, 3, 1, 1})
      .numbers("begin", {-6})
      .numbers("end", {9})
      .numbers("height", {2})
      .numbers("two", {2})
      .node("Conv", {"x", "w"}, {"a"}, {}, "conv")
      .node("Slice", {"a", "begin", "end", "height", "two"}, {"b"}, {}, "slice")
      .node("Transpose", {"b"}, {"c"}, {A::integers("perm", {0, 3, 1, 2})}, "turn")
      .output("c");
  const Model model = read(onnx).model;
  // The slice takes every second row from row 8 - 6 = 2 on, so it takes rows 2, 4 and 6 of the 8 rows. After the
  // transpose, the order of the axes is width, channels, height.
  CHECK(types(model) == "input conv2d slice transpose");
  CHECK(layer(model, "slice").shape == Shape{3, 10, 6});
  CHECK(layer(model, "turn").shape == Shape{10, 6, 3});
}

TEST_CASE("the counts of recurrent layers follow from their matrices", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {5, "N", 3})
      .weight("w", {2, 16, 3})
      .weight("r", {2, 16, 4})
      .weight("b", {2, 32})
      .node("LSTM", {"x", "w", "r", "b"}, {"y", "last"},
            {A::integer("hidden_size", 4), A::text("direction", "bidirectional")}, "lstm")
      .node("Relu", {"last"}, {"z"}, {}, "relu")
      .output("y")
      .output("z");
  // The first axis counts the steps, and the axis named N counts the samples.
  const ReadOnnx got = read(onnx, "{batch: 1, N: 1}");
  CHECK(layer(got.model, "lstm").type == "lstm");
  CHECK(layer(got.model, "lstm").shape == Shape{5, 8});
  CHECK(got.model.parameters() == 2 * 16 * (3 + 4) + 2 * 32);
  CHECK(got.model.macs() == 5 * 2 * 16 * (3 + 4));
  CHECK(layer(got.model, "relu").output == 2 * 4);
  CHECK(got.elements.learned == got.model.parameters());
}

TEST_CASE("a weight that two layers share counts only once", "[onnx]") {
  OnnxBytes onnx;
  onnx.opset(13)
      .input("x", {1, 4, 8, 8})
      .weight("w", {4, 4, 3, 3})
      .weight("mask", {1, 4, 1, 1})
      .numbers("none", {0, 0, 0, 0, 0, 0, 0, 0})
      .node("Pad", {"x", "none"}, {"x0"}, {}, "no_pad")
      .node("Concat", {"x0"}, {"x1"}, {A::integer("axis", 1)}, "no_concat")
      .node("Conv", {"x1", "w"}, {"a"}, {A::integers("pads", {1, 1, 1, 1})}, "first")
      .node("Conv", {"a", "w"}, {"b"}, {A::integers("pads", {1, 1, 1, 1})}, "second")
      .node("Mul", {"b", "mask"}, {"c"}, {}, "masked")
      .node("Mul", {"c", "mask"}, {"d"}, {}, "again")
      .output("d");
  const ReadOnnx got = read(onnx);
  CHECK(types(got.model) == "input conv2d conv2d operator operator");
  CHECK(layer(got.model, "first").parameters == 144);
  CHECK(layer(got.model, "second").parameters == 0);
  CHECK(layer(got.model, "second").shared == 144);
  CHECK(layer(got.model, "second").macs == 64 * 144);
  CHECK(layer(got.model, "masked").parameters == 4);
  CHECK(layer(got.model, "again").parameters == 0);
  CHECK(got.elements.learned == 148);
}

TEST_CASE("each layer has its own bias, even if the file stores equal biases once", "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {1, 4})
      .weight("v", {4, 4})
      .weight("w", {4, 4})
      .weight("b", {4})
      .node("Gemm", {"x", "v", "b"}, {"h"}, {}, "first")
      .node("Gemm", {"h", "w", "b"}, {"y"}, {}, "second")
      .node("Gemm", {"y", "w", "b"}, {"z"}, {}, "third")
      .output("z");
  const Model model = read(onnx).model;
  CHECK(layer(model, "first").parameters == 20);
  CHECK(layer(model, "second").parameters == 20);
  // The nodes `second` and `third` share a matrix, but `third` has a bias of its own. No layer type can share its
  // matrix without its bias. So the matrix is counted for `second`, and only the bias is counted for `third`.
  CHECK(layer(model, "third").parameters == 4);
  CHECK(layer(model, "third").macs == 16);
}

TEST_CASE("the message names all unknown operators, and an option counts them as free", "[onnx]") {
  OnnxBytes onnx;
  onnx.opset(13)
      .opset(1, "com.acme")
      .input("x", {1, 6})
      .node("Frobnicate", {"x"}, {"a"}, {}, "first", "com.acme")
      .node("Relu", {"a"}, {"b"})
      .node("Frobnicate", {"b"}, {"c"}, {}, "second", "com.acme")
      .node("NonZero", {"c"}, {"d"}, {}, "third")
      .shape("a", {1, 6})
      .shape("c", {1, 6})
      .shape("d", {2, 6}, onnx_int64)
      .output("d");
  CHECK(
      refused_bytes(onnx.bytes()) ==
      "3 m.onnx: error: unknown operators: NonZero, 1 time (third); "
      "com.acme.Frobnicate, 2 times (first, second). To count these operators as free, use as_zero=[NonZero, "
      "com.acme.Frobnicate]");
  const Model model = read(onnx, "{as_zero: [NonZero, com.acme.Frobnicate]}").model;
  CHECK(types(model) == "input operator relu operator operator");
  CHECK(model.flop() == 6);  // only the relu is counted, with 6 FLOP
  CHECK_THAT(refused_bytes(onnx.bytes(), "{as_zero: [Nonzero]}"),
             Contains("s.yaml:1:12: error: 'Nonzero' in 'as_zero': the model has no such operator "
                      "(did you mean 'NonZero'?)"));
}

TEST_CASE(
    "symbolic dimensions are given by name, and the error names the dimensions that are missing",
    "[onnx]") {
  OnnxBytes onnx;
  onnx.input("x", {"N", "in width", 3}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK_THAT(
      refused_bytes(onnx.bytes()),
      StartsWith(
          "3 m.onnx: error: the extents of in_width are not in the file; give their values, such as "
          "in_width=128"));
  CHECK(layer(read(onnx, "{in_width: 7}").model, "x").shape == Shape{7, 3});
  CHECK_THAT(refused_bytes(onnx.bytes(), "{in_width: 7, hight: 3}"),
             Contains("s.yaml:1:15: error: the model has no symbolic dimension 'hight'; it has: N, "
                      "in_width"));
  CHECK_THAT(refused_bytes(onnx.bytes(), "{in_width: 0}"),
             Contains("'0' for 'in_width', a symbolic dimension: expected an integer of at least "
                      "1"));
  OnnxBytes fixed;
  fixed.input("x", {4, 3}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(layer(read(fixed).model, "x").shape == Shape{3});
  CHECK(layer(read(fixed, "{batch: 1}").model, "x").shape == Shape{4, 3});
  CHECK_THAT(refused_bytes(fixed.bytes(), "{batch: 2}"),
             Contains("'2' for 'batch': the file sets the batch, expected 4, or 1"));
}
