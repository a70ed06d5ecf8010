// The layers for a sequence of tokens. A sequence has the shape [rows, features], with one row per token.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

void require_rows(const Reader& keys, const Shape& shape) {
  if (shape.size() != 2)
    keys.fail("type",
              keys.text("type") + " needs an input of [rows, features], got " + text_of(shape));
}

// The forward pass copies a row of the table for each token, without FLOP. The backward pass reads the tokens again.
// For each token, it adds a row of the output's gradient to the gradient of the token's row in the table, with 1 FLOP
// per element.
LayerCounts infer_embedding(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& tokens = *inputs[0];
  if (tokens.size() != 1)
    keys.fail("type", "embedding needs an input of [tokens], got " + text_of(tokens));
  const std::int64_t features = keys.integer("features");
  LayerCounts counts;
  counts.shape = {tokens[0], features};
  counts.parameters = checked_mul(keys.integer("entries"), features, "parameters");
  counts.weights_read = {.elements = elements_of(counts.shape)};
  counts.backward = {.weight_flop = elements_of(counts.shape), .reads_inputs = true};
  return counts;
}

// Every sample uses the same first rows of the table: one for each row of the input. The backward pass adds the
// output's gradient to the gradient of these rows.
LayerCounts infer_add_embedding(const Reader& keys, const std::vector<const Shape*>& inputs) {
  require_rows(keys, *inputs[0]);
  LayerCounts counts;
  counts.shape = *inputs[0];
  counts.parameters = checked_mul(keys.integer("entries"), counts.shape[1], "parameters");
  counts.weights_read = {.elements = elements_of(counts.shape), .same_for_all = true};
  counts.flop = counts.backward.weight_flop = elements_of(counts.shape);
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

LayerCounts infer_class_token(const Reader& keys, const std::vector<const Shape*>& inputs) {
  require_rows(keys, *inputs[0]);
  LayerCounts counts;
  counts.shape = {checked_add((*inputs[0])[0], 1, "elements"), (*inputs[0])[1]};
  counts.parameters = counts.backward.weight_flop = counts.shape[1];
  return counts;
}

// The layer rotates pairs of features by an angle. A pair (x, y) becomes (x cos - y sin, x sin + y cos): two products
// and a sum per element, so 3 FLOP. The backward pass rotates the gradient back, with as many FLOP.
LayerCounts infer_rotary(const Reader& keys, const std::vector<const Shape*>& inputs) {
  require_rows(keys, *inputs[0]);
  LayerCounts counts;
  counts.shape = *inputs[0];
  counts.flop = counts.backward.input_flop = checked_mul(elements_of(counts.shape), 3, "FLOP");
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

/// Returns the number of features of one head.
std::int64_t per_head(const Reader& keys, const Shape& shape, const char* heads, const char* word) {
  const std::int64_t count = keys.integer(heads);
  if (shape[1] % count != 0)
    keys.fail(heads, "'" + std::to_string(count) + "' for '" + heads +
                         "': expected a divisor of the " + std::to_string(shape[1]) +
                         " features of the " + word);
  return shape[1] / count;
}

// Each head has one score for each pair of a query and a key. A score takes one multiply-accumulate per feature of the
// head's queries, 1 FLOP for its scaling, and 5 FLOP for its part of the softmax. The output of the softmax is then
// multiplied by the head's values, with one multiply-accumulate per feature of the values. A causal mask saves no
// computation: all scores are computed before the mask is applied.
//
// The forward pass has two products: queries with keys, and softmax with values. In the backward pass, each product
// has two gradients. Each gradient takes as many multiply-accumulates as the product. In addition, the backward pass
// takes 4 FLOP per score for the softmax, and 1 FLOP per score for the scaling. Dropout takes 2 FLOP per score: a
// multiplication by the mask, and a multiplication by 1 / (1 - rate). The backward pass reads queries, keys, values and
// the output of softmax. With dropout, it also reads the scores after dropout and the mask of 1 byte per score.
LayerCounts infer_attention(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape &query = *inputs[0], &key = *inputs[1], &value = *inputs[2];
  for (const Shape* input : inputs) require_rows(keys, *input);
  const std::int64_t heads = keys.integer("heads");
  const char* shared = keys.has("kv_heads") ? "kv_heads" : "heads";
  const std::int64_t kv_heads = keys.integer(shared);
  if (heads % kv_heads != 0)
    keys.fail("kv_heads", "'" + std::to_string(kv_heads) +
                              "' for 'kv_heads': expected a divisor of the " +
                              std::to_string(heads) + " heads");
  const std::int64_t width = per_head(keys, query, "heads", "queries");
  const std::int64_t depth = per_head(keys, value, shared, "values");
  if (per_head(keys, key, shared, "keys") != width || key[0] != value[0])
    keys.fail(
        "inputs",
        "attention of queries " + text_of(query) + ", keys " + text_of(key) + " and values " +
            text_of(value) +
            ": expected as many keys as values, and as many features per head in the keys as in the queries");
  const std::int64_t cached = keys.integer("cached");
  LayerCounts counts;
  counts.shape = {query[0], checked_mul(heads, depth, "elements")};
  counts.cached = checked_mul(cached, checked_add(key[1], value[1], "elements"), "elements");
  const std::int64_t scores =
      elements_of({heads, query[0], checked_add(cached, key[0], "elements")});
  counts.macs = checked_mul(scores, checked_add(width, depth, "multiply-accumulates"),
                            "multiply-accumulates");
  counts.flop =
      checked_add(checked_mul(counts.macs, 2, "FLOP"), checked_mul(scores, 6, "FLOP"), "FLOP");
  const bool dropout = keys.boolean("dropout");
  counts.backward = {
      .input_flop = checked_add(checked_mul(counts.macs, 4, "FLOP"),
                                checked_mul(scores, dropout ? 7 : 5, "FLOP"), "FLOP"),
      .reads_inputs = true,
      .kept = dropout ? checked_mul(scores, 2, "kept elements") : scores,
      .kept_bytes = dropout ? scores : 0,
      .selective = true};
  return counts;
}

}  // namespace

extern const LayerType embedding_layer = {
    .name = "embedding",
    .summary = "Takes one row of a table for each token.",
    .details =
        "A cost model assumes that each token of the micro-batch reads a row of its own. But it never counts more rows "
        "than the table has. An update by the optimizer reads and writes the whole table.",
    .source = "Vaswani et al., Attention is all you need (2017), section 3.4",
    .example = "{type: input, shape: [128]}, {type: embedding, entries: 50257, features: 768}",
    .parameters = {Key::integer("entries",
                                "the number of rows of the table: one row for each known word")
                       .at_least(1),
                   Key::integer("features", "the number of columns of the table").at_least(1)},
    .infer = infer_embedding,
};

extern const LayerType add_embedding_layer = {
    .name = "add_embedding",
    .summary =
        "Adds a learned row to each row of the input, with 1 FLOP per element. There is one learned row per position, "
        "or one per segment of the input.",
    .details =
        "The table has entries x features parameters. All samples read the same first rows of the table. So a cost "
        "model reads these rows once per micro-batch. The backward pass adds the output's gradient to the gradient "
        "of these rows, with 1 FLOP per element. It reads no activation. Use this layer to add the learned positions "
        "of words to the rows of the words.",
    .source = "Devlin et al., BERT (2019), figure 2",
    .example = "{type: input, shape: [128, 768]}, {type: add_embedding, entries: 1024}",
    .parameters = {Key::integer("entries",
                                "the number of learned rows, one per position or segment")
                       .at_least(1)},
    .infer = infer_add_embedding,
};

extern const LayerType class_token_layer = {
    .name = "class_token",
    .summary = "Puts a learned row before all other rows.",
    .details =
        "The output has one more row than the input, and the learned row has one parameter per feature. The forward "
        "pass takes no FLOP. The backward pass adds up the gradient of the learned row, with 1 FLOP per feature, and "
        "reads no activation. Use this layer for vision transformers. After the last block, use `take_row` to take the "
        "first row.",
    .source = "Dosovitskiy et al., An image is worth 16x16 words (2021), equation 1",
    .example = "{type: input, shape: [196, 768]}, {type: class_token}",
    .infer = infer_class_token,
};

extern const LayerType rotary_layer = {
    .name = "rotary",
    .summary =
        "Rotates pairs of features by an angle that grows with the position, with 3 FLOP per element.",
    .details =
        "A pair (x, y) becomes (x cos - y sin, x sin + y cos). This takes 3 FLOP per element. The backward pass "
        "rotates the gradient back with as many FLOP. It reads no activation. The layer has no parameters. Use "
        "`rotary` on queries and keys before `attention`.",
    .source =
        "Su et al., RoFormer: enhanced transformer with rotary position embedding (2021), equation 34",
    .example = "{type: input, shape: [128, 4096]}, {type: rotary}",
    .infer = infer_rotary,
};

extern const LayerType attention_layer = {
    .name = "attention",
    .summary =
        "Computes three things for each head: the scaled dot products of queries with keys, the softmax of these "
        "products, and the sum of the values weighted by the softmax. The projections to queries, keys and values are "
        "separate layers.",
    .details =
        "The scores are kept for the backward pass. Each head has (number of queries) x (number of keys) scores. With "
        "`cached`, the queries of new tokens are also multiplied with the keys of earlier tokens. The device holds the "
        "keys and values of the earlier tokens in a cache during the whole run.",
    .source =
        "Vaswani et al., Attention is all you need (2017), section 3.2; Ainslie et al., GQA "
        "(2023), section 2.2; what is kept for the backward pass: Korthikanti et al. (2022), "
        "section 4.1 (flash attention, one of torch.nn's variants, keeps no scores); the cache: "
        "Pope et al., Efficiently scaling transformer inference (2022), section 2.1",
    .example =
        "{type: input, name: x, shape: [128, 768]}, {type: matmul, name: q, features: 768, inputs: "
        "[x]}, {type: matmul, name: k, features: 768, inputs: [x]}, {type: matmul, name: v, "
        "features: 768, inputs: [x]}, {type: attention, heads: 12, inputs: [q, k, v]}",
    .parameters =
        {Key::integer("heads",
                      "the number of heads into which the features of the queries are divided")
             .at_least(1),
         Key::integer(
             "kv_heads",
             "the number of heads of keys and values, a divisor of `heads`; by default equal to "
             "`heads`")
             .or_absent()
             .at_least(1),
         Key::boolean("dropout", "whether training sets some scores to zero after the softmax")
             .by_default("false"),
         Key::integer("cached", "the number of earlier tokens whose keys and values are in a cache")
             .by_default("0")},
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = infer_attention,
};

}  // namespace sluice
