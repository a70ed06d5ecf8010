// Tests the layers of sequence models: recurrent layers, mixtures of experts, attention with a cache, and products of
// two inputs. Also tests the layers that take a part of a tensor or permute its axes.
#include <catch2/catch.hpp>

#include "cost/cost.hpp"
#include "stage/sizes.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;
using Catch::Matchers::Contains;

namespace {

Layer last(const std::string& keys, const std::string& input) {
  return model_of(input + "- {type: " + keys + "}\n").layers.back();
}

const std::string rows = "- {type: input, name: x, shape: [5, 8]}\n";

}  // namespace

TEST_CASE(
    "recurrent layers have the parameters that PyTorch gives them for each layer, direction and gate") {
  // torch.nn.LSTM(8, 3) has weights `weight_ih` of 12 x 8 elements, weights `weight_hh` of 12 x 3 elements, and two
  // biases of 12 elements.
  const Layer lstm = last("lstm, hidden: 3", rows);
  CHECK(lstm.shape == Shape{5, 3});
  CHECK(lstm.parameters == 12 * 8 + 12 * 3 + 2 * 12);
  CHECK(lstm.macs == 5 * 12 * (8 + 3));
  // Besides its multiply-accumulates, each of the 5 steps takes 22 FLOP for each of 3 hidden values, and 24 FLOP for
  // the two biases.
  CHECK(lstm.flop == 2 * lstm.macs + 5 * (22 * 3 + 24));
  CHECK(lstm.backward.kept == 5 * 3 * 5);  // 4 gates and the state of the cell
  CHECK(last("lstm, hidden: 3, bias: false", rows).parameters == 12 * 11);
  CHECK(last("gru, hidden: 3", rows).parameters == 9 * 8 + 9 * 3 + 2 * 9);
  CHECK(last("gru, hidden: 3, bias: false", rows).flop == 5 * (2 * 9 * 11 + 17 * 3));
  CHECK(last("rnn, hidden: 3", rows).parameters == 3 * 8 + 3 * 3 + 2 * 3);
  CHECK(last("rnn, hidden: 3, bias: false", rows).flop == 5 * (2 * 3 * 11 + 2 * 3));
  CHECK(last("rnn, hidden: 3", rows).backward.kept == 0);
  // The counts of torch.nn.LSTM(8, 3, num_layers=3, bidirectional=True). Its first layer reads 8 features. The second
  // and the third layer read 6 features: 3 from each direction.
  const Layer deep = last("lstm, hidden: 3, layers: 3, bidirectional: true", rows);
  CHECK(deep.shape == Shape{5, 6});
  CHECK(deep.parameters == 2 * (12 * (8 + 3) + 24) + 4 * (12 * (6 + 3) + 24));
  CHECK(deep.macs == 5 * (2 * 12 * (8 + 3) + 4 * 12 * (6 + 3)));
  // Besides the gates and states of all layers, the lstm keeps the outputs of its first two layers.
  CHECK(deep.backward.kept == 30 * (3 * 5 + 2));
  CHECK_THAT(
      refused("- {type: input, name: x, shape: [5]}\n- {type: gru, hidden: 3}\n"),
      Contains("gru needs an input of [steps, features] or [steps, sequences, features], got [5]"));
}

TEST_CASE(
    "four sequences in a sample share the parameters of a recurrent layer, but take four times the FLOP and "
    "bytes of one sequence") {
  const std::string learned = "- {type: batch_norm, name: learned}\n";
  for (const std::string keys :
       {"lstm, hidden: 3, bidirectional: true", "gru, hidden: 3, layers: 2"}) {
    const Layer one = last(keys, rows + learned);
    const Layer four = last(keys, "- {type: input, name: x, shape: [5, 4, 8]}\n" + learned);
    CHECK(four.shape == Shape{5, 4, one.shape[1]});
    CHECK(four.parameters == one.parameters);
    CHECK(four.macs == 4 * one.macs);
    CHECK(four.flop == 4 * one.flop);
    CHECK(four.backward.input_flop == 4 * one.backward.input_flop);
    CHECK(four.backward.weight_flop == 4 * one.backward.weight_flop);
    CHECK(four.backward.kept == 4 * one.backward.kept);
  }
}

TEST_CASE(
    "the backward pass of an operator computes the gradients of both factors of its products") {
  const std::string two = rows +
                          "- {type: matmul, name: a, features: 8}\n"
                          "- {type: matmul, name: b, features: 8, inputs: [x]}\n";
  const Layer product = last("operator, inputs: [a, b], shape: [5, 5], macs: 8", two);
  CHECK(product.macs == 25 * 8);
  CHECK(product.backward.input_flop == 2 * 2 * 25 * 8);
  // The operator multiplies each of its 40 inputs by 6 weights. For its backward pass, it keeps 30 bytes.
  const Layer spread =
      last("operator, shape: [5, 6], input_macs: 6, parameters: 48, kept_bytes: 30", two);
  CHECK(spread.macs == 40 * 6);
  CHECK(spread.flop == 2 * 40 * 6);
  CHECK(spread.backward.input_flop == 2 * 40 * 6);
  CHECK(spread.backward.weight_flop == 2 * 40 * 6);
  CHECK(spread.backward.kept_bytes == 30);
}

TEST_CASE(
    "the backward pass of a recurrent layer goes through all steps, even if its input needs no gradient") {
  const std::string learned =
      "- {type: input, name: x, shape: [5]}\n- {type: embedding, entries: 9, features: 8}\n";
  const Layer lstm = last("lstm, hidden: 3", learned);
  // The forward pass of a step has 12 x (8 + 3) products. For each product, the backward pass computes two gradients.
  // The derivatives of the cell's functions take as many FLOP as the functions. The gradients of the biases are sums
  // over the steps.
  CHECK(lstm.backward.input_flop == 2 * 5 * 12 * 8);
  CHECK(lstm.backward.weight_flop ==
        2 * 5 * 12 * 3 + 5 * 22 * 3 + 2 * 5 * 12 * (8 + 3) + 5 * 2 * 12);
  const Layer raw = last("lstm, hidden: 3", rows);
  CHECK(raw.backward.input_flop == 0);
  CHECK(raw.backward.weight_flop == lstm.backward.weight_flop);
  // The second layer reads the hidden values of the first layer. These values need gradients, although the input of the
  // model needs none.
  const Layer deep = last("rnn, hidden: 3, layers: 2, bias: false", rows);
  CHECK(deep.backward.weight_flop ==
        2 * 5 * (3 * 3 + 3 * 6) + 2 * 5 * 2 * 3 + 2 * 5 * (3 * 11 + 3 * 6));
}

TEST_CASE(
    "a mixture of experts has the parameters of all experts, and computes only with the chosen experts") {
  // An embedding makes x, so x needs a gradient.
  const Model m = model_of(
      "- {type: input, name: tokens, shape: [5]}\n"
      "- {type: embedding, name: x, entries: 9, features: 8}\n"
      "- {type: matmul, name: router, features: 6}\n"
      "- {type: top_k, name: top, k: 2}\n"
      "- {type: softmax, name: shares}\n"
      "- {type: dispatch, name: rows, inputs: [x, top]}\n"
      "- {type: expert_matmul, name: up, experts: 6, features: 16}\n"
      "- {type: expert_matmul, name: down, experts: 6, features: 8}\n"
      "- {type: combine, name: sum, inputs: [down, shares]}\n");
  CHECK(m.layers[3].shape == Shape{5, 2});
  CHECK(m.layers[3].flop == 5 * 6 * 2);
  CHECK(m.layers[3].backward.kept_bytes == 8 * 10);
  CHECK(m.layers[5].shape == Shape{10, 8});
  CHECK(m.layers[5].backward.input_flop == 80);
  CHECK(m.layers[6].parameters == 6 * 8 * 16);
  CHECK(m.layers[6].macs == 10 * 8 * 16);  // two experts per row
  CHECK(m.layers[6].backward.weight_flop == 2 * 10 * 8 * 16);
  CHECK(m.layers[8].shape == Shape{5, 8});
  CHECK(m.layers[8].flop == 3 * 40);
  CHECK(m.layers[8].backward.input_flop == 3 * 80);
  CHECK(m.parameters() == 9 * 8 + 8 * 6 + 2 * 6 * 8 * 16);
  CHECK_THAT(refused(rows + "- {type: top_k, k: 9}\n"), Contains("a row has only 8 elements"));
  CHECK_THAT(
      refused(rows + "- {type: top_k, name: t, k: 2}\n" + "- {type: combine, inputs: [x, t]}\n"),
      Contains(
          "combine of 2 rows: expected a second input of the shape [rows, choices], got [5, 2]"));
  CHECK_THAT(refused(rows + "- {type: input, name: t, shape: [4, 2]}\n" +
                     "- {type: dispatch, inputs: [x, t]}\n"),
             Contains("dispatch of 5 rows"));
}

TEST_CASE(
    "with a cache, new queries are multiplied by the keys of all tokens, and the cache's bytes are of the class "
    "kv_cache") {
  const std::string given =
      "- {type: input, name: q, shape: [1, 24]}\n- {type: input, name: k, shape: [1, 12]}\n"
      "- {type: input, name: v, shape: [1, 12]}\n";
  const Model m = model_of(
      given + "- {type: attention, inputs: [q, k, v], heads: 4, kv_heads: 2, cached: 9}\n");
  const Layer& layer = m.layers.back();
  CHECK(layer.shape == Shape{1, 24});
  CHECK(layer.macs == 4 * 10 * (6 + 6));
  CHECK(layer.flop == 2 * layer.macs + 6 * 4 * 10);
  CHECK(layer.cached == 9 * (12 + 12));
  // For each of 3 samples, the layer reads q (24 elements), k and v (12 elements each) and the cache (9 x 24 = 216
  // elements). It writes 24 elements. In float16, an element has two bytes.
  CHECK(forward_work(m, layer, 3, DType::float16).bytes == 2.0 * 3 * (24 + 12 + 12 + 216 + 24));
  CHECK(last("attention, inputs: [q, k, v], heads: 4, kv_heads: 2", given).cached == 0);
}

TEST_CASE("a stage has the caches of its layers, and these caches do not count as workspace") {
  // Each of 2 blocks of Llama 2 7B has a cache, with 2 x 4096 elements of 2 bytes for each of 100 tokens.
  const Model with = load_model(zoo + "llama2_7b.yaml", {"blocks=2", "tokens=1", "cached=100"});
  const Model without = load_model(zoo + "llama2_7b.yaml", {"blocks=2", "tokens=1"});
  CHECK(with.parameters() == without.parameters());
  const std::uint32_t last = static_cast<std::uint32_t>(with.layers.size()) - 1;
  const Stage cached = make_stages(with, {last}, DType::float16).at(0);
  const Stage plain = make_stages(without, {last}, DType::float16).at(0);
  CHECK(cached.cache_bytes == 2 * 2 * 100 * 2 * 4096);
  CHECK(plain.cache_bytes == 0);
  CHECK(cached.workspace_bytes == plain.workspace_bytes);
}

TEST_CASE(
    "a product of two inputs multiplies pairs of matrices, and its backward pass takes twice the FLOP of the forward "
    "pass") {
  const std::string given =
      "- {type: input, name: x, shape: [3, 5, 8]}\n- {type: layer_norm, name: a}\n- {type: input, "
      "name: b, shape: [3, 8, 2]}\n"
      "- {type: input, name: c, shape: [3, 2, 8]}\n- {type: input, name: d, shape: [4, 8, 2]}\n";
  const Layer product = last("batched_matmul, inputs: [a, b]", given);
  CHECK(product.shape == Shape{3, 5, 2});
  CHECK(product.macs == 3 * 5 * 8 * 2);
  CHECK(product.flop == 2 * product.macs);
  CHECK(product.parameters == 0);
  CHECK(product.backward.input_flop == 2 * product.flop);
  CHECK(product.backward.reads_inputs);
  CHECK(last("batched_matmul, inputs: [a, c], transpose_b: true", given).shape == Shape{3, 5, 2});
  const auto message_for = [&](const std::string& keys) {
    return refused(given + "- {type: batched_matmul, inputs: " + keys + "}\n");
  };
  CHECK_THAT(message_for("[a, c]"),
             Contains("as many rows of the second input as columns of the first"));
  CHECK_THAT(message_for("[a, d]"), Contains("both inputs with the same number of matrices"));
  CHECK_THAT(message_for("[a]"), Contains("batched_matmul takes 2 inputs, got 1"));
}

TEST_CASE("split, slice and transpose compute nothing") {
  CHECK(last("split, parts: 4, part: 1", rows).shape == Shape{5, 2});
  CHECK(last("split, axis: 0, sizes: [2, 3], part: 1", rows).shape == Shape{3, 8});
  CHECK(last("slice, begin: 2, end: 7", rows).shape == Shape{5, 5});
  CHECK(last("slice, begin: 2, end: 7, step: 2", rows).shape == Shape{5, 3});
  CHECK(last("slice, axis: 0, begin: 3", rows).shape == Shape{2, 8});
  CHECK(last("transpose, axes: [1, 0]", rows).shape == Shape{8, 5});
  CHECK(last("transpose, axes: [2, 0, 1]", image).shape == Shape{3, 28, 28});
  for (const char* keys : {"split, parts: 2, part: 0", "slice", "transpose, axes: [1, 0]"}) {
    CHECK(last(keys, rows).flop == 0);
    CHECK_FALSE(last(keys, rows).backward.reads_inputs);
  }
  const auto message_for = [&](const std::string& keys) {
    return refused(rows + "- {type: " + keys + "}\n");
  };
  CHECK_THAT(message_for("split, part: 0"), Contains("split needs either 'parts' or 'sizes'"));
  CHECK_THAT(message_for("split, parts: 3, part: 0"), Contains("a divisor of the extent 8"));
  CHECK_THAT(message_for("split, parts: 2, part: 2"), Contains("there are the parts 0 to 1"));
  CHECK_THAT(message_for("split, sizes: [4, 3], part: 0"),
             Contains("'sizes' sum up to 7, expected the extent 8"));
  CHECK_THAT(message_for("split, sizes: [4, 4], part: 2"), Contains("there are the parts 0 to 1"));
  CHECK_THAT(message_for("split, axis: 2, parts: 1, part: 0"), Contains("has the axes -2 to 1"));
  CHECK_THAT(message_for("slice, end: 9"), Contains("has an extent of 8 along this axis"));
  CHECK_THAT(message_for("slice, begin: 8"), Contains("expected a position before 8"));
  CHECK_THAT(message_for("transpose, axes: [1, 1]"), Contains("expected each of 0 to 1 once"));
  CHECK_THAT(message_for("transpose, axes: [1]"), Contains("'axes' has 1 of the 2 axes"));
}

TEST_CASE("Mixtral computes each token with 2 of its 8 experts") {
  const Model m = load_model(zoo + "mixtral_8x7b.yaml", {"tokens=1"});
  CHECK(m.parameters() == 46'702'792'704);
  // A token uses 12,879,925,248 parameters, as published. These are all parameters except those of the 6 experts that
  // are not chosen. Each used parameter takes one multiply-accumulate, except the parameters of the embedding table and
  // of the norms. In each of 32 blocks, the attention to one token takes 2 x 4,096 more multiply-accumulates.
  CHECK(m.macs() == 12'879'925'248 - 32'000 * 4'096 - (2 * 32 + 1) * 4'096 + 32 * 2 * 4'096);
}
