// Tests how many bytes are kept for the backward pass of a transformer block. The numbers must be exactly the results
// of formulas in section 4 of Korthikanti et al., Reducing activation recomputation in large transformer models (2022).
#include <catch2/catch.hpp>

#include "model/kept.hpp"
#include "stage/sizes.hpp"
#include "support/models.hpp"

using namespace sluice;
using namespace sluice::test;

namespace {

Kept kept_between(const Model& model, const std::string& first, const std::string& last) {
  return kept_for(model, model.layer_at(Value::make(first)), model.layer_at(Value::make(last)));
}

std::int64_t bytes_between(const Model& model, const std::string& first, const std::string& last) {
  return bytes_of(kept_between(model, first, last).in_all(model), DType::float16);
}

}  // namespace

TEST_CASE("a transformer block keeps s h (34 + 5 a s / h) bytes of a sample") {
  // The 22B configuration has s = 2048 tokens, h = 6144 features and a = 64 heads, in float16.
  const std::int64_t s = 2048, h = 6144, a = 64;
  const Model model = load_model(zoo + "megatron_22b.yaml", {"blocks=2"});
  const std::int64_t sh = s * h, ass = a * s * s;  // 12,582,912 and 268,435,456
  // 34 s h = 34 x 12,582,912 = 427,819,008, and 5 a s s = 5 x 268,435,456 = 1,342,177,280.
  CHECK(34 * sh + 5 * ass == 1'769'996'288);
  CHECK(bytes_between(model, "norm1.1", "sum2.1") == 1'769'996'288);
  CHECK(bytes_between(model, "norm1.2", "sum2.2") == 1'769'996'288);
  // The output of one block is the input of the next block, and counts in the next block.
  CHECK(bytes_between(model, "norm1.1", "sum2.2") == 2 * 1'769'996'288LL);

  // Section 4.1 says that attention keeps 11 s h + 5 a s s bytes. The products for queries, keys and values share one
  // input of 2 s h bytes, which is kept once. Queries, keys and values take 2 s h bytes each. The attention's output
  // takes 2 s h bytes, and the mask takes s h bytes. The scores take (2 + 1 + 2) a s s bytes: the output of the
  // softmax, the mask, and the output of the dropout.
  const Kept attention = kept_between(model, "query.1", "dropout1.1");
  CHECK(bytes_of(attention.in_all(model), DType::float16) == 11 * sh + 5 * ass);
  CHECK(attention.outside == std::vector{model.layer_at(Value::make(std::string("norm1.1")))});
  CHECK(attention.inside.size() == 4);
  CHECK(attention.own == KeptCount{0, sh});
  CHECK(attention.selective == KeptCount{2 * ass, ass});
  // The feed-forward layers keep an input of 2 s h bytes, GeLU's input and output of 8 s h bytes each, and a mask of s
  // h bytes.
  CHECK(bytes_between(model, "up.1", "dropout2.1") == 19 * sh);
  // Each norm keeps its input.
  CHECK(bytes_between(model, "norm1.1", "norm1.1") == 2 * sh);
  CHECK(bytes_between(model, "norm2.1", "norm2.1") == 2 * sh);
  CHECK(bytes_between(model, "sum1.1", "sum1.1") == 0);
}

TEST_CASE(
    "a stage that is a transformer block keeps the bytes of the block in addition to the "
    "input of the stage") {
  const Model model = load_model(zoo + "megatron_22b.yaml", {"blocks=2"});
  const std::uint32_t first = model.layer_at(Value::make(std::string("norm1.2")));
  const std::uint32_t last = model.layer_at(Value::make(std::string("sum2.2")));
  const Stage::Kept kept = Sizes(model, DType::float16).kept(first, last);
  CHECK(kept.inner_bytes == 1'769'996'288 - 2 * 2048 * 6144);
  CHECK(kept.selective_bytes == 5LL * 64 * 2048 * 2048);
  CHECK(kept.reads_input);
  CHECK_FALSE(kept.reads_output);
}

TEST_CASE("with selective recomputation, a transformer block keeps 34 s h bytes") {
  const Model model = load_model(zoo + "megatron_22b.yaml", {"blocks=1"});
  Kept kept = kept_between(model, "norm1.1", "sum2.1");
  kept.selective = {};
  CHECK(bytes_of(kept.in_all(model), DType::float16) == 34LL * 2048 * 6144);
}

TEST_CASE(
    "outside of its blocks, a transformer keeps a mask and the inputs of the last norm and "
    "of the logits") {
  // Section 4.3 says that the model keeps s h bytes for the dropout of the embeddings and 2 s h bytes for the last
  // norm. It also keeps 2 s h bytes for the product of the logits. Sluice also counts the tokens, with 2 bytes each
  // like all elements. Only a loss would read the logits, so they are not counted.
  const std::int64_t sh = 2048 * 6144, block = 1'769'996'288;
  const Model model = load_model(zoo + "megatron_22b.yaml", {});
  const Kept whole = kept_for(model, 0, static_cast<std::uint32_t>(model.layers.size()) - 1);
  CHECK(bytes_of(whole.in_all(model), DType::float16) == 48 * block + 5 * sh + 2 * 2048);
  CHECK(whole.outside.empty());
}

TEST_CASE(
    "the products of the forward and backward pass take 72 L s h h (1 + s / (6 h) + v / (12 h L)) "
    "FLOP") {
  // The formula of Korthikanti et al. (section 6.1 and appendix A) counts 6 FLOP per multiply-accumulate of the forward
  // pass, for one sample. L is the number of blocks, and v is the number of words.
  const std::int64_t s = 2048, h = 6144, v = 51200, layers = 48;
  const std::int64_t published = 72 * layers * s * h * h + 12 * layers * s * s * h + 6 * s * h * v;
  // The three terms are 267,181,325,549,568, 14,843,406,974,976 and 3,865,470,566,400.
  CHECK(published == 285'890'203'090'944);
  const Model model = load_model(zoo + "megatron_22b.yaml", {});
  CHECK(6 * model.macs() == published);
  // Each product takes 2 FLOP per multiply-accumulate in the forward pass and 4 FLOP in the backward pass. Biases are
  // not counted.
  for (const Layer& layer : model.layers)
    if (layer.type == "matmul") {
      const std::int64_t bias = layer.name == "logits" ? 0 : layer.output;
      CHECK(layer.flop == 2 * layer.macs + bias);
      CHECK(backward_flop(layer) == 4 * layer.macs + bias);
    }
}

TEST_CASE("a tensor that several layers read is kept once, even through views") {
  // x has 28 x 28 x 3 elements, and the output of conv has 28 x 28 x 4 = 3136. The backward pass of relu reads relu's
  // output. Both heads read the output of relu through views. The pool has 14 x 14 x 4 = 784 outputs. It keeps indices
  // of 8 bytes.
  const Model model = model_of(image +
                               "- {type: conv2d, name: conv, channels: 4, kernel: 3, padding: 1}\n"
                               "- {type: relu, name: relu}\n"
                               "- {type: flatten, name: flat}\n"
                               "- {type: reshape, name: rows, shape: [4, 784]}\n"
                               "- {type: dense, name: a, features: 10}\n"
                               "- {type: dense, name: b, features: 10, inputs: [flat]}\n"
                               "- {type: max_pool, name: pool, kernel: 2, inputs: [relu]}\n"
                               "- {type: flatten, name: last}\n");
  const Kept whole = kept_for(model, 0, 8);
  // x is kept for the backward pass of conv. The output of relu is kept for the backward passes of relu and of the
  // heads a and b.
  CHECK(whole.inside == std::vector<std::uint32_t>{0, 2});
  CHECK(whole.own == KeptCount{0, 8 * 784});
  CHECK(whole.in_all(model) == KeptCount{28 * 28 * 3 + 3136, 8 * 784});
  CHECK(bytes_of(whole.in_all(model), DType::float32) == 4 * (2352 + 3136) + 6272);
  const Kept heads = kept_for(model, 3, 6);
  CHECK(heads.outside == std::vector<std::uint32_t>{2});
  CHECK(heads.inside.empty());
  CHECK(heads.in_all(model) == KeptCount{3136, 0});
  CHECK(origin_of(model, 4) == 2);
  // In a stage, the output of relu is kept once, in addition to the input x. The output of the pool does not count,
  // because its view is the output of the stage.
  const Stage::Kept stage = Sizes(model, DType::float32).kept(0, 8);
  CHECK(stage.inner_bytes == 4 * 3136 + 6272);
  CHECK(stage.reads_input);
  // With a cut after relu, the views in the second stage are views of the input of this stage.
  const Stage::Kept second = Sizes(model, DType::float32).kept(3, 6);
  CHECK(second.inner_bytes == 0);
  CHECK(second.reads_input);
  CHECK(origin_of(model, 0) == 0);
}
