// Tests the backward pass of each layer type. The expected FLOP and kept bytes are computed by hand.
#include <catch2/catch.hpp>

#include "cost/cost.hpp"
#include "model/catalog.hpp"
#include "model/kept.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;

namespace {

const std::string tokens = "- {type: input, name: x, shape: [5]}\n";

/// Returns a layer that reads an image of 8 x 8 x 6 = 384 elements. A layer with weights makes this image, so the
/// returned layer has a backward pass.
Layer learned(const std::string& keys) {
  return model_of(
             "- {type: input, name: x, shape: [8, 8, 6]}\n"
             "- {type: conv2d, name: a, channels: 6, kernel: 1}\n- {type: " +
             keys + "}\n")
      .layers.back();
}

/// Returns a layer that reads 5 rows of 8 elements, which are 40 elements. An embedding makes these rows.
Layer learned_rows(const std::string& keys) {
  return model_of(tokens +
                  "- {type: embedding, name: a, entries: 9, features: 8}\n- {type: " + keys + "}\n")
      .layers.back();
}

void check_counts(const Layer& layer, std::int64_t input_flop, std::int64_t weight_flop) {
  INFO(layer.type);
  CHECK(layer.backward.input_flop == input_flop);
  CHECK(layer.backward.weight_flop == weight_flop);
}

/// What the backward pass of a layer reads.
struct Reads {
  bool inputs = false, output = false;
};
constexpr Reads nothing = {}, only_inputs = {.inputs = true};

void check_reads(const Layer& layer, const Reads& reads, std::int64_t kept = 0,
                 std::int64_t kept_bytes = 0) {
  INFO(layer.type);
  CHECK(layer.backward.reads_inputs == reads.inputs);
  CHECK(layer.backward.reads_output == reads.output);
  CHECK(layer.backward.kept == kept);
  CHECK(layer.backward.kept_bytes == kept_bytes);
  CHECK(layer.backward.selective == (layer.type == "attention"));
}

}  // namespace

TEST_CASE("each gradient of a product takes as many multiply-accumulates as the product") {
  // The first two layers have 8 x 8 x 12 outputs. Each output is a sum of 3 x 3 x 6 = 54 products. In the third layer,
  // which has two groups, each output is a sum of 1 x 1 x 6 / 2 = 3 products. The gradient of a bias takes 1 FLOP per
  // output.
  const std::int64_t macs = 64 * 12 * 54;
  check_counts(learned("conv2d, channels: 12, kernel: 3, padding: 1"), 2 * macs,
               2 * macs + 64 * 12);
  check_counts(learned("conv2d, channels: 12, kernel: 3, padding: 1, bias: false"), 2 * macs,
               2 * macs);
  check_counts(learned("conv2d, channels: 4, kernel: 1, groups: 2"), 2 * 64 * 4 * 3,
               2 * 64 * 4 * 3 + 64 * 4);
  check_counts(learned("conv_transpose2d, channels: 4, kernel: 2, stride: 2"), 2 * 64 * 4 * 24,
               2 * 64 * 4 * 24 + 256 * 4);
  check_counts(learned("dense, features: 10"), 2 * 3840, 2 * 3840 + 10);
  check_counts(learned_rows("matmul, features: 3, bias: true"), 2 * 120, 2 * 120 + 15);
  check_counts(learned_rows("matmul, features: 8, bias: true"), 2 * 320, 2 * 320 + 40);
  for (const char* keys : {"conv2d, channels: 1, kernel: 3",
                           "conv_transpose2d, channels: 1, kernel: 3", "dense, features: 10"})
    check_reads(learned(keys), only_inputs);
  check_reads(learned_rows("matmul, features: 3"), only_inputs);
}

TEST_CASE(
    "an activation reads its output if the output is enough for the gradient, and otherwise its input") {
  const std::vector<std::tuple<std::string, int, bool>> types = {
      {"relu", 1, false},    {"relu6", 2, true},       {"leaky_relu", 2, true},
      {"sigmoid", 3, false}, {"tanh", 3, false},       {"silu", 9, true},
      {"gelu", 11, true},    {"hardsigmoid", 3, true}, {"hardswish", 5, true},
      {"softmax", 4, false}};
  for (const auto& [type, flop, reads_input] : types) {
    const Layer layer = learned(type);
    check_counts(layer, flop * 384, 0);
    check_reads(layer, {.inputs = reads_input, .output = !reads_input});
  }
}

TEST_CASE("a pool of maxima keeps each position in 8 bytes, and a pool of means keeps no bytes") {
  const Layer pool = learned("max_pool, kernel: 3, stride: 2");  // 3 x 3 x 6 = 54 outputs
  check_counts(pool, 54, 0);
  check_reads(pool, nothing, 0, 8 * 54);
  const Layer mean = learned("avg_pool, kernel: 2");
  check_counts(mean, 384, 0);
  check_reads(mean, nothing);
  check_counts(learned("global_avg_pool"), 384, 0);
  // Along the first axis, the pool makes 6 elements from 8, and its windows have 12 elements together. Along the second
  // axis, it makes 3 elements from 8, and its windows have 10 elements together. test_layers.cpp tests these sums.
  check_counts(learned("adaptive_avg_pool, output: [6, 3]"), 12 * 10 * 6, 0);
}

TEST_CASE("a norm reads its input and sums the gradients of scale and shift") {
  check_counts(learned("batch_norm"), 10 * 384, 3 * 384);
  check_counts(learned("batch_norm, affine: false"), 13 * 384, 0);
  check_counts(learned("layer_norm"), 14 * 384, 3 * 384);
  check_counts(learned("layer_norm, affine: false"), 13 * 384, 0);
  check_counts(learned("group_norm, groups: 2"), 14 * 384, 3 * 384);
  check_counts(learned("rms_norm"), 9 * 384, 2 * 384);
  for (const char* keys : {"batch_norm", "layer_norm", "group_norm, groups: 3", "rms_norm"})
    check_reads(learned(keys), only_inputs);
}

TEST_CASE(
    "a sum keeps no tensor, a product keeps both factors, and broadcast inputs have summed gradients") {
  const auto joined = [](const std::string& keys) {
    return model_of(
               "- {type: input, name: x, shape: [8, 8, 6]}\n"
               "- {type: conv2d, name: a, channels: 6, kernel: 1}\n"
               "- {type: global_avg_pool, name: g}\n- {type: " +
               keys + "}\n")
        .layers.back();
  };
  check_counts(joined("add, inputs: [a, a]"), 0, 0);
  check_counts(joined("add, inputs: [a, g]"), 384, 0);
  check_reads(joined("add, inputs: [a, g]"), nothing);
  check_counts(joined("mul, inputs: [a, a]"), 2 * 384, 0);
  check_counts(joined("mul, inputs: [a, g]"), 3 * 384, 0);
  check_counts(joined("mul, inputs: [a, a, a]"), 6 * 384, 0);
  check_reads(joined("mul, inputs: [a, g]"), only_inputs);
  check_counts(joined("concat, inputs: [a, a]"), 0, 0);
  check_reads(joined("concat, inputs: [a, a]"), nothing);
}

TEST_CASE("views keep no tensors and move no bytes, and dropout keeps one byte per element") {
  for (const char* keys :
       {"flatten", "reshape, shape: [384]", "take_row", "transpose, axes: [1, 0, 2]",
        "split, parts: 2, part: 1", "slice, begin: 2", "all_gather, ranks: 2"}) {
    const Model model = model_of(
        "- {type: input, name: x, shape: [8, 8, 6]}\n"
        "- {type: conv2d, name: a, channels: 6, kernel: 1}\n- {type: " +
        std::string(keys) + "}\n");
    check_counts(model.layers[2], 0, 0);
    check_reads(model.layers[2], nothing);
    CHECK(is_view(model.layers[2]));
    CHECK(forward_work(model, model.layers[2], 4, DType::float32).bytes == 0);
    CHECK(backward_work(model, model.layers[2], 4, DType::float32).bytes == 0);
  }
  check_counts(learned("reduce_scatter, ranks: 4"), 0, 0);
  check_reads(learned("reduce_scatter, ranks: 4"), nothing);
  CHECK(learned("reduce_scatter, ranks: 4").shape == Shape{2, 8, 6});
  CHECK(learned("all_gather, ranks: 4").shape == Shape{32, 8, 6});
  CHECK_FALSE(is_view(learned("reduce_scatter, ranks: 4")));
  check_counts(learned("dropout"), 2 * 384, 0);
  check_reads(learned("dropout"), nothing, 0, 384);
  CHECK_FALSE(is_view(learned("dropout")));
}

TEST_CASE(
    "the gradients of embeddings and learned rows are sums, and the gradient of a rotation is rotated back") {
  const Layer table = model_of(tokens + "- {type: embedding, entries: 9, features: 8}\n").layers[1];
  check_counts(table, 0, 40);
  check_reads(table, only_inputs);
  check_counts(learned_rows("add_embedding, entries: 5"), 0, 40);
  check_reads(learned_rows("add_embedding, entries: 5"), nothing);
  check_counts(learned_rows("class_token"), 0, 8);
  check_reads(learned_rows("class_token"), nothing);
  check_counts(learned_rows("rotary"), 120, 0);
  check_reads(learned_rows("rotary"), nothing);
}

TEST_CASE(
    "attention keeps its scores, and with dropout also the scores after dropout and a mask of one byte per score") {
  // The 4 heads have 5 x 5 scores each, together 100 scores. Attention has two products. In each product, a score takes
  // one multiply-accumulate for each of the 2 features of a head.
  const Layer plain = learned_rows("attention, inputs: [a, a, a], heads: 4");
  check_counts(plain, 4 * 400 + 5 * 100, 0);
  check_reads(plain, only_inputs, 100);
  const Layer dropout = learned_rows("attention, inputs: [a, a, a], heads: 4, dropout: true");
  check_counts(dropout, 4 * 400 + 7 * 100, 0);
  check_reads(dropout, only_inputs, 200, 100);
  CHECK(dropout.flop == plain.flop);
}

TEST_CASE("no gradient is computed for the input of a layer if no earlier layer has weights") {
  const Model model = model_of(image +
                               "- {type: relu, name: relu}\n"
                               "- {type: conv2d, name: a, channels: 4, kernel: 1, bias: false}\n"
                               "- {type: conv2d, name: b, channels: 4, kernel: 1, bias: false}\n"
                               "- {type: gelu, name: g, inputs: [x]}\n"
                               "- {type: mul, name: m, inputs: [g, g]}\n");
  // The relu has no backward pass, because no layer before it has weights.
  check_counts(model.layers[1], 0, 0);
  check_reads(model.layers[1], nothing);
  check_counts(model.layers[2], 0, 2 * model.layers[2].macs);
  check_reads(model.layers[2], only_inputs);
  check_counts(model.layers[3], 2 * model.layers[3].macs, 2 * model.layers[3].macs);
  check_reads(model.layers[4], nothing);
  check_reads(model.layers[5], nothing);
  CHECK(backward_flop(model) == 2 * model.layers[2].macs + 4 * model.layers[3].macs);
}

TEST_CASE(
    "in a scaled model, the kept bytes and the FLOP of backward passes are multiplied by the scale") {
  const std::string layers =
      "- {type: input, name: x, shape: [5]}\n- {type: embedding, name: a, entries: 9, features: "
      "8}\n- {type: attention, inputs: [a, a, a], heads: 4, dropout: true}\n";
  const Model one = model_of(layers), three = model_of(layers, "{scale: 3}");
  CHECK(backward_flop(three) == 3 * backward_flop(one));
  const KeptCount kept = kept_for(one, 0, 2).in_all(one);
  CHECK(kept_for(three, 0, 2).in_all(three) == KeptCount{3 * kept.elements, 3 * kept.bytes});
}

TEST_CASE(
    "zeros of sparse weights are neither stored nor multiplied, in the forward and in the backward pass") {
  // Half of the 3 x 3 x 6 x 12 = 648 weights are stored. All 12 elements of the bias are stored.
  const Layer conv = learned("conv2d, channels: 12, kernel: 3, padding: 1, sparsity: 0.5");
  CHECK(conv.parameters == 324 + 12);
  CHECK(conv.macs == 64 * 324);
  CHECK(conv.flop == 2 * 64 * 324 + 64 * 12);
  check_counts(conv, 2 * 64 * 324, 2 * 64 * 324 + 64 * 12);
  CHECK(conv.sparsity == 0.5);
  // There are 384 x 10 = 3840 weights. 0.3 x 3840 = 1152 of them are zeros, and the other 2688 are stored.
  const Layer dense = learned("dense, features: 10, sparsity: 30%");
  CHECK(dense.parameters == 2688 + 10);
  CHECK(dense.macs == 2688);
  // There are 8 x 25 = 200 weights. 0.29 x 200 = 58 of them are zeros, although the product is 57.99... in binary
  // arithmetic. The other 142 weights are stored. Each stored weight is multiplied by an element of each of the 5 rows.
  const Layer rows = learned_rows("matmul, features: 25, sparsity: 0.29");
  CHECK(rows.parameters == 142);
  CHECK(rows.macs == 5 * 142);
  // A third of 200 weights is 66.67, which is rounded to 67 zeros. So 133 weights are stored.
  CHECK(learned_rows("matmul, features: 25, sparsity: 0.3333333").parameters == 133);
  const Layer none = learned_rows("matmul, features: 25, sparsity: 1");
  CHECK(none.parameters == 0);
  CHECK(none.flop == 0);
  CHECK_THAT(refused(tokens + "- {type: dense, features: 3, sparsity: 1.5}\n"),
             Catch::Matchers::Contains("'1.5' for 'sparsity': it must be at most 1"));
}
