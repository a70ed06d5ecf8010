// Tests layer types. The expected shapes, parameters, multiply-accumulates and FLOP are computed by hand. Also tests
// that wrong keys are refused.
#include <catch2/catch.hpp>

#include "model/catalog.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;

namespace {

/// Returns the last layer of a model. The input of the model is `input`, by default an image of 28 x 28 x 3.
Layer last(const std::string& keys, const std::string& input = image) {
  return model_of(input + "- {type: " + keys + "}\n").layers.back();
}

const std::string square = "- {type: input, name: x, shape: [8, 8, 6]}\n";

}  // namespace

TEST_CASE(
    "the weights and multiply-accumulates of a convolution are divided by the number of its groups") {
  const Layer whole = last("conv2d, channels: 12, kernel: 3, padding: 1", square);
  CHECK(whole.parameters == 3 * 3 * 6 * 12 + 12);
  CHECK(whole.macs == 64 * 3 * 3 * 6 * 12);
  const Layer split = last("conv2d, channels: 12, kernel: 3, padding: 1, groups: 3", square);
  CHECK(split.shape == whole.shape);
  CHECK(split.parameters == 3 * 3 * 2 * 12 + 12);
  CHECK(split.macs * 3 == whole.macs);
  CHECK(split.flop == 2 * split.macs + 64 * 12);
  // The convolution is depthwise: it has one 3 x 3 filter for each channel.
  const Layer depthwise =
      last("conv2d, channels: 6, kernel: 3, padding: 1, groups: 6, bias: false", square);
  CHECK(depthwise.parameters == 9 * 6);
  CHECK(depthwise.macs == 64 * 9 * 6);
}

TEST_CASE("kernel, stride, dilation and padding may be given for each axis") {
  const auto shape = [](const std::string& keys) {
    return last("conv2d, channels: 1, " + keys).shape;
  };
  CHECK(shape("kernel: [1, 7], padding: [0, 3]") == Shape{28, 28, 1});
  CHECK(shape("kernel: [7, 1]") == Shape{22, 28, 1});
  CHECK(shape("kernel: 2, stride: [2, 3]") == Shape{14, 9, 1});  // floor(26 / 3) + 1 = 9
  // With dilation 2, the window of 3 x 3 pixels covers 5 x 5 pixels.
  CHECK(shape("kernel: 3, dilation: 2") == Shape{24, 24, 1});
  // With the dilations 2 and 9, the window covers 5 x 19 pixels.
  CHECK(shape("kernel: 3, dilation: [2, 9]") == Shape{24, 10, 1});
  CHECK(shape("kernel: 3, padding: [1, 0, 2, 4]") == Shape{29, 30, 1});  // 28 + 3 - 2, 28 + 4 - 2
  CHECK(shape("kernel: 3, padding: same, dilation: 50") == Shape{28, 28, 1});
  const Layer wide = last("conv2d, channels: 2, kernel: [1, 7], padding: [0, 3], bias: false");
  CHECK(wide.parameters == 7 * 3 * 2);
  CHECK(wide.macs == 28 * 28 * 7 * 3 * 2);
  const Model m = model_of(image + "- {type: conv2d, channels: 1, kernel: [$n, $n + 2]}\n", "",
                           "parameters: {n: 3}\n");
  CHECK(m.layers[1].shape == Shape{26, 24, 1});
}

TEST_CASE("a transposed convolution restores the extents of a convolution's input") {
  // Each extent is (8 - 1) x 2 (stride) - 2 x 1 (padding) + 3 (kernel) + 1 (output padding) = 16.
  const Layer up = last(
      "conv_transpose2d, channels: 4, kernel: 3, stride: 2, padding: 1, output_padding: 1", square);
  CHECK(up.shape == Shape{16, 16, 4});
  CHECK(up.parameters == 3 * 3 * 6 * 4 + 4);
  CHECK(up.macs == 64 * 3 * 3 * 6 * 4);
  CHECK(up.flop == 2 * up.macs + 256 * 4);
  CHECK(last("conv_transpose2d, channels: 4, kernel: 2, stride: 2", square).shape ==
        Shape{16, 16, 4});
  CHECK(last("conv_transpose2d, channels: 4, kernel: 5, stride: 3, padding: same", square).shape ==
        Shape{24, 24, 4});
  CHECK(last("conv_transpose2d, channels: 4, kernel: 3, dilation: 2", square).shape ==
        Shape{12, 12, 4});
}

TEST_CASE(
    "pools may round the number of windows up, take means, and fit the windows to a given output") {
  CHECK(last("max_pool, kernel: 3, stride: 2").shape == Shape{13, 13, 3});
  CHECK(last("max_pool, kernel: 3, stride: 2, ceil: true").shape == Shape{14, 14, 3});
  // (28 + 2 - 3) / 2 = 13.5 is rounded up to 14, which gives 15 windows. The 15th window begins at position 14 x 2 - 1
  // = 27 of the image. Position 27 is in the image, so this window counts.
  CHECK(last("max_pool, kernel: 3, stride: 2, padding: 1, ceil: true").shape == Shape{15, 15, 3});
  // (28 + 4 - 1) / 5 = 6.2 is rounded up to 7, which gives 8 windows. The 8th window would begin at position 7 x 5 =
  // 35. With the 2 zeros in front, the image ends before position 30. So only 7 windows count.
  CHECK(last("max_pool, kernel: 1, stride: 5, padding: 2, ceil: true").shape == Shape{7, 7, 3});
  // The height has stride 1, and 2 + 2 - 3 = 1 gives 2 windows. The width has stride 2, and (2 - 3) / 2 = -0.5 is
  // rounded up to 0, which gives one window, as in torch. With stride 1, 2 - 3 = -1 gives no window.
  const std::string small = "- {type: input, name: x, shape: [2, 2, 2]}\n";
  const std::string wide = "max_pool, kernel: [3, 3], padding: [1, 0], ceil: true, stride: ";
  CHECK(last(wide + "[1, 2]", small).shape == Shape{2, 1, 2});
  CHECK_THAT(refused(small + "- {type: " + wide + "[1, 1]}\n"),
             Contains("'3' for 'kernel': larger than the input [2, 2, 2] with a padding of 0, "
                      "expected at most 2"));
  CHECK_THAT(refused(small + "- {type: max_pool, kernel: 4, stride: 2, ceil: true}\n"),
             Contains("expected at most 3"));
  const Layer mean = last("avg_pool, kernel: [2, 4]");
  CHECK(mean.shape == Shape{14, 7, 3});
  CHECK(mean.flop == 28 * 28 * 3);
  CHECK(mean.macs == 0);
  const Layer global = last("global_avg_pool");
  CHECK(global.shape == Shape{1, 1, 3});
  CHECK(global.flop == 28 * 28 * 3);
  const Layer seven = last("adaptive_avg_pool, output: 7");
  CHECK(seven.shape == Shape{7, 7, 3});
  CHECK(seven.flop == 28 * 28 * 3);  // 7 x 7 windows of 4 x 4 pixels, which do not overlap
  // A pool from 8 to 6 has the windows [0, 2) [1, 3) [2, 4) [4, 6) [5, 7) [6, 8), with 8 + 6 - 2 = 12 elements. A pool
  // from 8 to 3 has the windows [0, 3) [2, 6) [5, 8), with 8 + 3 - 1 = 10 elements.
  CHECK(last("adaptive_avg_pool, output: [6, 3]", square).flop == 12 * 10 * 6);
  CHECK(last("adaptive_avg_pool, output: 8", square).flop == 8 * 8 * 6);
}

TEST_CASE("convolutions over one and three axes are counted like convolutions over two axes") {
  const std::string signal = "- {type: input, name: x, shape: [20, 4]}\n";
  const std::string volume = "- {type: input, name: x, shape: [6, 8, 10, 2]}\n";
  // There are floor((20 + 4 - 5) / 2) + 1 = 10 positions with 2 + 2 zeros, and as many with 1 + 2 zeros.
  const Layer line = last("conv1d, channels: 6, kernel: 5, stride: 2, padding: 2", signal);
  CHECK(line.shape == Shape{10, 6});
  CHECK(line.parameters == 5 * 4 * 6 + 6);
  CHECK(line.macs == 10 * 5 * 4 * 6);
  CHECK(line.flop == 2 * line.macs + 60);
  CHECK(last("conv1d, channels: 6, kernel: [5], stride: [2], padding: [1, 2]", signal).shape ==
        Shape{10, 6});
  CHECK(last("conv1d, channels: 8, kernel: 3, padding: same, groups: 4", signal).parameters ==
        3 * 8 + 8);
  CHECK(last("conv1d, channels: 1, kernel: 3, dilation: 4", signal).shape == Shape{12, 1});
  // The output extends over 6 + 2 - 3 + 1 = 6, floor((8 - 3) / 2) + 1 = 3 and floor((10 - 1) / 2) + 1 = 5 positions.
  const Layer solid =
      last("conv3d, channels: 3, kernel: [3, 3, 1], stride: [1, 2, 2], padding: [1, 0, 0]", volume);
  CHECK(solid.shape == Shape{6, 3, 5, 3});
  CHECK(solid.parameters == 9 * 2 * 3 + 3);
  CHECK(solid.macs == 6 * 3 * 5 * 9 * 2 * 3);
  CHECK(last("conv3d, channels: 1, kernel: 3, padding: [1, 0, 0, 0, 1, 2]", volume).shape ==
        Shape{5, 7, 10, 1});
  // The result of conv_transpose1d has (20 - 1) x 2 + 4 - 2 = 40 positions. The result of conv_transpose3d is twice as
  // long as the input along each axis.
  CHECK(last("conv_transpose1d, channels: 3, kernel: 4, stride: 2, padding: 1", signal).shape ==
        Shape{40, 3});
  const Layer up = last("conv_transpose3d, channels: 4, kernel: 2, stride: 2", volume);
  CHECK(up.shape == Shape{12, 16, 20, 4});
  CHECK(up.parameters == 8 * 2 * 4 + 4);
  CHECK(up.macs == 6 * 8 * 10 * 8 * 2 * 4);
}

TEST_CASE("pools use all axes of their input except the channels") {
  const std::string signal = "- {type: input, name: x, shape: [20, 4]}\n";
  const std::string volume = "- {type: input, name: x, shape: [4, 6, 8, 2]}\n";
  CHECK(last("max_pool, kernel: 3, stride: 2, ceil: true", signal).shape == Shape{10, 4});
  CHECK(last("avg_pool, kernel: 2", signal).flop == 20 * 4);
  CHECK(last("global_avg_pool", signal).shape == Shape{1, 4});
  CHECK(last("adaptive_avg_pool, output: 5", signal).shape == Shape{5, 4});
  const Layer pool = last("max_pool, kernel: [2, 3, 4]", volume);
  CHECK(pool.shape == Shape{2, 2, 2, 2});
  CHECK(pool.flop == 4 * 6 * 8 * 2);
  CHECK(last("global_avg_pool", volume).shape == Shape{1, 1, 1, 2});
  CHECK(last("adaptive_avg_pool, output: [1, 2, 3]", volume).shape == Shape{1, 2, 3, 2});
  // If 8 elements become 3, the three windows together have 8 + 3 - 1 = 10 elements.
  CHECK(last("adaptive_avg_pool, output: [1, 2, 3]", volume).flop == 4 * 6 * 10 * 2);
}

TEST_CASE("the elements of an adaptive pool's windows are counted as in a sum over all windows") {
  for (std::int64_t n = 1; n <= 20; ++n)
    for (std::int64_t m = 1; m <= 20; ++m) {
      std::int64_t elements = 0;
      for (std::int64_t i = 0; i < m; ++i) elements += ((i + 1) * n + m - 1) / m - i * n / m;
      const Layer pool =
          last("adaptive_avg_pool, output: [1, " + std::to_string(m) + "]",
               "- {type: input, name: x, shape: [1, " + std::to_string(n) + ", 1]}\n");
      CHECK(pool.flop == elements);
    }
}

TEST_CASE(
    "normalisations have two parameters per channel, and running statistics are not parameters") {
  const Layer batch = last("batch_norm", square);
  CHECK(batch.parameters == 12);
  CHECK(batch.flop == 2 * 384);
  CHECK(batch.macs == 0);
  CHECK(last("batch_norm, affine: false", square).parameters == 0);
  CHECK(last("layer_norm", square).parameters == 12);
  CHECK(last("layer_norm", square).flop == 7 * 384);
  CHECK(last("layer_norm, affine: false", square).flop == 5 * 384);
  CHECK(last("group_norm, groups: 3", square).parameters == 12);
  CHECK(last("group_norm, groups: 3", square).flop == 7 * 384);
  CHECK(last("rms_norm", square).parameters == 6);
  CHECK(last("rms_norm", square).flop == 4 * 384);
}

TEST_CASE("activations keep the shape, and take the FLOP per element that their summaries give") {
  const std::vector<std::pair<std::string, int>> costs = {
      {"relu", 1}, {"relu6", 2}, {"leaky_relu", 2},  {"sigmoid", 4},   {"tanh", 1},
      {"silu", 5}, {"gelu", 5},  {"hardsigmoid", 4}, {"hardswish", 5}, {"softmax", 5}};
  for (const auto& [type, flop] : costs) {
    INFO(type);
    CHECK(last(type, square).shape == Shape{8, 8, 6});
    CHECK(last(type, square).flop == flop * 384);
    CHECK(last(type, square).parameters == 0);
    CHECK_THAT(layer_catalog().find(type).summary, Contains(std::to_string(flop) + " FLOP"));
  }
}

TEST_CASE("branches are joined element by element, or end to end") {
  const auto joined = [](const std::string& keys) {
    return model_of(square + "- {type: conv2d, name: a, channels: 10, kernel: 1}\n" +
                    "- {type: global_avg_pool, name: g, inputs: [a]}\n" + "- {type: " + keys +
                    "}\n")
        .layers.back();
  };
  CHECK(joined("add, inputs: [a, a]").shape == Shape{8, 8, 10});
  CHECK(joined("add, inputs: [a, a]").flop == 640);
  CHECK(joined("add, inputs: [a, a, a]").flop == 1280);
  CHECK(joined("mul, inputs: [g, a]").shape == Shape{8, 8, 10});  // g: [1, 1, 10]
  CHECK(joined("mul, inputs: [g, a]").flop == 640);
  CHECK(joined("concat, inputs: [x, a]").shape == Shape{8, 8, 16});
  CHECK(joined("concat, inputs: [x, a]").flop == 0);
  CHECK(joined("concat, inputs: [a, a], axis: 0").shape == Shape{16, 8, 10});
  CHECK(joined("concat, inputs: [a, a], axis: -2").shape == Shape{8, 16, 10});
  CHECK(joined("concat, inputs: [x, a]").inputs == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("flatten, reshape and dropout compute nothing") {
  CHECK(last("flatten", square).shape == Shape{384});
  CHECK(last("reshape, shape: [4, -1]", square).shape == Shape{4, 96});
  CHECK(last("reshape, shape: [6, 64]", square).shape == Shape{6, 64});
  CHECK(last("dropout, rate: 0.2", square).shape == Shape{8, 8, 6});
  for (const char* keys : {"flatten", "reshape, shape: [384]", "dropout"})
    CHECK(last(keys, square).flop == 0);
}

TEST_CASE("a product over rows may have a bias, or weights that another layer counts") {
  const std::string rows = "- {type: input, name: x, shape: [5, 8]}\n";
  CHECK(last("matmul, features: 3", rows).parameters == 24);
  CHECK(last("matmul, features: 3", rows).flop == 2 * 5 * 24);
  CHECK(last("matmul, features: 3, bias: true", rows).parameters == 27);
  CHECK(last("matmul, features: 3, bias: true", rows).flop == 2 * 5 * 24 + 15);
}

TEST_CASE(
    "tied weights count only in the earlier layer, and both layers must have equally many weights") {
  const std::string words =
      "- {type: input, name: x, shape: [5]}\n"
      "- {type: embedding, name: words, entries: 100, features: 8}\n";
  const Model m = model_of(words + "- {type: matmul, name: a, features: 100, tied: words}\n" +
                           "- {type: matmul, name: b, features: 100, inputs: [words], bias: true, "
                           "tied: words}\n");
  CHECK(m.parameters() == 800 + 100);
  CHECK(m.layers[2].parameters == 0);
  CHECK(m.layers[2].shared == 800);
  CHECK(m.layers[2].tied == 1);
  CHECK(m.layers[2].macs == 5 * 800);
  CHECK(m.layers[3].parameters == 100);  // the layer has its own bias
  CHECK(m.layers[3].shared == 800);
  const auto message_for = [&](const std::string& keys) {
    return refused(words + "- {type: matmul, name: a, " + keys + "}\n");
  };
  CHECK_THAT(message_for("features: 99, tied: words"),
             Contains("m.yaml:6:47: error: 'words' for 'tied': it has 800 parameters, expected the "
                      "792 of this layer"));
  CHECK_THAT(message_for("features: 100, tied: x"),
             Contains("'x' for 'tied': it is of type input and has no weights to share"));
  CHECK_THAT(refused("- {type: input, name: x, shape: [5]}\n- {type: relu, name: m}\n"
                     "- {type: relu, tied: m}\n"),
             Contains("'m' for 'tied': a layer of type relu has no weights to share"));
  CHECK_THAT(message_for("features: 100, tied: true"),
             Contains("'true' in 'tied' is not an earlier layer"));
  CHECK_THAT(refused(words + "- {type: matmul, name: a, features: 100, tied: words}\n" +
                     "- {type: matmul, inputs: [words], features: 100, tied: a}\n"),
             Contains("it shares the weights of 'words': name that layer instead"));
}

TEST_CASE("layers for tokens have the shapes and counts that were computed by hand") {
  const std::string tokens = "- {type: input, name: x, shape: [5]}\n";
  const std::string rows = "- {type: input, name: x, shape: [5, 8]}\n";
  CHECK(last("embedding, entries: 100, features: 8", tokens).shape == Shape{5, 8});
  CHECK(last("embedding, entries: 100, features: 8", tokens).parameters == 800);
  CHECK(last("embedding, entries: 100, features: 8", tokens).flop == 0);
  CHECK(last("add_embedding, entries: 20", rows).parameters == 160);
  CHECK(last("add_embedding, entries: 20", rows).flop == 40);
  CHECK(last("class_token", rows).shape == Shape{6, 8});
  CHECK(last("class_token", rows).parameters == 8);
  CHECK(last("rotary", rows).flop == 120);
  CHECK(last("take_row, row: 4", rows).shape == Shape{8});
  CHECK_THAT(refused(rows + "- {type: embedding, entries: 2, features: 3}\n"),
             Contains("embedding needs an input of [tokens], got [5, 8]"));
  CHECK_THAT(refused(tokens + "- {type: rotary}\n"),
             Contains("rotary needs an input of [rows, features], got [5]"));
  CHECK_THAT(refused(rows + "- {type: take_row, row: 5}\n"),
             Contains("m.yaml:5:25: error: '5' for 'row': the input [5, 8] has the rows 0 to 4"));
}

TEST_CASE(
    "attention computes one score for each head, query and key, and groups of heads may share keys and values") {
  // 5 queries have 4 heads of 6 features, 7 keys have 2 heads of 6, and 7 values have 2 heads of 3 features.
  const std::string given =
      "- {type: input, name: q, shape: [5, 24]}\n- {type: input, name: k, shape: [7, 12]}\n"
      "- {type: input, name: v, shape: [7, 6]}\n- {type: input, name: w, shape: [6, 6]}\n";
  const Layer grouped = last("attention, inputs: [q, k, v], heads: 4, kv_heads: 2", given);
  CHECK(grouped.shape == Shape{5, 12});
  CHECK(grouped.parameters == 0);
  CHECK(grouped.macs == 4 * 5 * 7 * (6 + 3));
  // For each of the 4 x 5 x 7 scores, the scaling takes 1 FLOP and the softmax takes 5 FLOP.
  CHECK(grouped.flop == 2 * grouped.macs + 6 * 4 * 5 * 7);
  const Layer full = last("attention, inputs: [q, q, q], heads: 4", given);
  CHECK(full.shape == Shape{5, 24});
  CHECK(full.macs == 5 * 5 * (24 + 24));
  const auto message_for = [&](const std::string& keys) {
    return refused(given + "- {type: attention, " + keys + "}\n");
  };
  CHECK_THAT(message_for("inputs: [q, k, v], heads: 5"),
             Contains("'5' for 'heads': expected a divisor of"));
  CHECK_THAT(message_for("inputs: [q, k, v], heads: 4, kv_heads: 3"),
             Contains("'3' for 'kv_heads': expected a divisor of the 4 heads"));
  CHECK_THAT(message_for("inputs: [q, q, v], heads: 4, kv_heads: 2"),
             Contains("as many features per head in the keys as in the queries"));
  CHECK_THAT(message_for("inputs: [q, k, w], heads: 4, kv_heads: 2"),
             Contains("as many keys as values"));
  CHECK_THAT(message_for("inputs: [q, k], heads: 4"), Contains("attention takes 3 inputs, got 2"));
}

TEST_CASE("an impossible value is refused at its key") {
  const auto message_for = [](const std::string& keys) {
    return refused(square + "- {type: " + keys + "}\n");
  };
  CHECK_THAT(message_for("conv2d, channels: 12, kernel: 3, groups: 4"),
             Contains("m.yaml:5:51: error: '4' for 'groups': expected a divisor of the 6 input "
                      "channels"));
  CHECK_THAT(message_for("conv2d, channels: 10, kernel: 3, groups: 3"),
             Contains("expected a divisor of the 10 output channels"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: [3, 0]"),
             Contains("m.yaml:5:43: error: '0' for 'kernel': it must be at least 1"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: [3]"),
             Contains("m.yaml:5:39: error: a list of length 1 for 'kernel': expected an integer or "
                      "[height, width]"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: 2.5"),
             Contains("'2.5' for 'kernel': expected an integer or [height, width]"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: {h: 3}"),
             Contains("a mapping for 'kernel'"));
  CHECK_THAT(message_for("conv2d, channels: 1"), Contains("the key 'kernel' is missing"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: 3, padding: [1, 2, 3]"),
             Contains("a list of 3 integers for 'padding'"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: 3, padding: [1, -2]"),
             Contains("m.yaml:5:55: error: '-2' for 'padding': it must be at least 0"));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: 4, dilation: 3"),
             Contains("m.yaml:5:39: error: '4' for 'kernel': with a dilation of 3 the window has a "
                      "length of 10, larger than the input [8, 8, 6] with a padding of 0, expected "
                      "at most 3"));
  CHECK_THAT(message_for("conv_transpose2d, channels: 1, kernel: 3, padding: 5"),
             Contains("a padding of 10 on both sides together leaves nothing of an output of 10"));
  CHECK_THAT(message_for("adaptive_avg_pool, output: [0, 1]"), Contains("'0' for 'output'"));
  CHECK_THAT(message_for("group_norm, groups: 4"), Contains("a divisor of the 6 channels"));
  CHECK_THAT(message_for("dropout, rate: 1.5"), Contains("'1.5' for 'rate': it must be at most 1"));
  CHECK_THAT(message_for("reshape, shape: [5, -1]"), Contains("does not hold the 384 elements"));
  CHECK_THAT(message_for("reshape, shape: [-1, -1]"), Contains("'-1' in 'shape'"));
  CHECK_THAT(message_for("reshape, shape: [100]"), Contains("does not hold the 384 elements"));
  CHECK_THAT(message_for("add, inputs: [x]"), Contains("add takes at least 2 inputs, got 1"));
  CHECK_THAT(message_for("add"), Contains("add takes at least 2 inputs, got 1"));
  const std::string flat = "- {type: flatten, name: f}\n";
  CHECK_THAT(refused(square + flat + "- {type: add, inputs: [x, f]}\n"),
             Contains("m.yaml:6:23: error: add of [8, 8, 6] and [384]: expected two equal extents"));
  CHECK_THAT(refused(square + flat + "- {type: concat, inputs: [x, f]}\n"),
             Contains("concat of [8, 8, 6] and [384]: expected equal extents except along axis 2"));
  CHECK_THAT(refused(square + flat + "- {type: concat, inputs: [f, f], axis: 1}\n"),
             Contains("'1' for 'axis': [384] has the axes -1 to 0"));
  CHECK_THAT(refused(square + flat + "- {type: avg_pool, kernel: 2}\n"),
             Contains("avg_pool needs an input of [length, channels], [height, width, channels] or "
                      "[depth, height, width, channels], got [384]"));
  CHECK_THAT(message_for("conv1d, channels: 1, kernel: 3"),
             Contains("conv1d needs an input of [length, channels], got [8, 8, 6]"));
  CHECK_THAT(message_for("conv3d, channels: 1, kernel: 3"),
             Contains("conv3d needs an input of [depth, height, width, channels], got [8, 8, 6]"));
  const auto of_volume = [](const std::string& keys) {
    return refused("- {type: input, name: x, shape: [4, 8, 8, 6]}\n- {type: " + keys + "}\n");
  };
  CHECK_THAT(of_volume("conv3d, channels: 1, kernel: [3, 3]"),
             Contains("a list of length 2 for 'kernel': expected an integer or [depth, height, width]"));
  CHECK_THAT(
      of_volume("max_pool, kernel: 2, padding: [1, 1]"),
      Contains("a list of 2 integers for 'padding'") && Contains("[front, top, left, back, bottom, right]"));
  CHECK_THAT(of_volume("conv3d, channels: 1, kernel: [5, 1, 1]"),
             Contains("'5' for 'kernel': larger than the input [4, 8, 8, 6]"));
}

TEST_CASE("sizes at the limit of 64 bits are counted or refused, and never overflow") {
  // The input has 2^58 - 1 elements, which are the most that a model may have.
  const std::string most = "288230376151711743";
  const auto message_for = [&](const std::string& keys) {
    return refused("- {type: input, name: x, shape: [" + most + ", 1, 1]}\n- {type: " + keys +
                   "}\n");
  };
  CHECK_THAT(message_for("max_pool, kernel: 1, padding: 9223372036854775807"),
             Contains("padding: "));
  CHECK_THAT(message_for("conv2d, channels: 1, kernel: [" + most + ", 1], dilation: 64"),
             Contains("dilation: "));
  CHECK_THAT(message_for("conv_transpose2d, channels: 1, kernel: 1, stride: 64"),
             Contains("elements: "));
  CHECK_THAT(message_for("batch_norm"), Contains("bytes of the layers up to this one: "));
  CHECK_THAT(message_for("concat, inputs: [x, x], axis: 0"),
             Contains("bytes of the layers up to this one: "));
  CHECK_THAT(message_for("adaptive_avg_pool, output: [" + most + ", 2]"), Contains("e"));
}
