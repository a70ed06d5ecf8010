// The layers of a mixture of experts, in which each row goes to a few of many experts. The parameters include the
// weights of all experts. The router, which chooses the experts of a row, consists of the layers matmul, top_k and
// softmax. The experts consist of the layers dispatch, expert_matmul and combine.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

void require_matrix(const Reader& keys, const Shape& shape) {
  if (shape.size() != 2)
    keys.fail("type",
              keys.text("type") + " needs an input of [rows, columns], got " + text_of(shape));
}

/// If `chosen` is not a matrix with `rows` rows, throws InputError. Each row of `chosen` has the experts that were
/// chosen for one row of the input.
void require_choices(const Reader& keys, const Shape& chosen, std::int64_t rows) {
  if (chosen.size() != 2 || chosen[0] != rows)
    keys.fail("inputs", keys.text("type") + " of " + std::to_string(rows) +
                            " rows: expected a second input of the shape [rows, choices], got " +
                            text_of(chosen));
}

// Finds the k largest values of each row. A row is scanned once for each of these values, with one comparison per
// element. The indices of the values, with 8 bytes each, are kept for the backward pass, which adds the gradients at
// these positions.
LayerCounts infer_top(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& scores = *inputs[0];
  require_matrix(keys, scores);
  const std::int64_t k = keys.integer("k");
  if (k > scores[1])
    keys.fail("k", "'" + std::to_string(k) + "' for 'k': a row has only " +
                       std::to_string(scores[1]) + " elements");
  LayerCounts counts;
  counts.shape = {scores[0], k};
  counts.flop = checked_mul(elements_of(scores), k, "FLOP");
  counts.backward.kept_bytes = checked_mul(elements_of(counts.shape), 8, "bytes kept");
  return counts;
}

// The layer copies rows. The backward pass adds up the gradients of all copies of a row.
LayerCounts infer_dispatch(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape &rows = *inputs[0], &chosen = *inputs[1];
  require_matrix(keys, rows);
  require_choices(keys, chosen, rows[0]);
  LayerCounts counts;
  counts.shape = {checked_mul(rows[0], chosen[1], "elements"), rows[1]};
  counts.backward.input_flop = elements_of(counts.shape);
  return counts;
}

// Each row is multiplied by the weights of one expert. So for n rows, at most n matrices are read.
LayerCounts infer_matmul(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& rows = *inputs[0];
  require_matrix(keys, rows);
  const std::int64_t features = keys.integer("features");
  const std::int64_t one = checked_mul(rows[1], features, "parameters");
  LayerCounts counts;
  counts.shape = {rows[0], features};
  counts.parameters = checked_mul(keys.integer("experts"), one, "parameters");
  counts.weights_read = {.elements = checked_mul(rows[0], one, "elements read")};
  counts.macs = checked_mul(rows[0], one, "multiply-accumulates");
  counts.flop = checked_mul(counts.macs, 2, "FLOP");
  counts.backward = {.input_flop = counts.flop, .weight_flop = counts.flop, .reads_inputs = true};
  return counts;
}

// For each token, the layer multiplies the rows of its k experts by k weights, and adds them up. So each element of the
// output takes k multiplications and k - 1 additions. In the backward pass, the gradient of an expert's row is the
// weight of this row x the output's gradient. The gradient of a weight is the scalar product of its row and the
// output's gradient.
LayerCounts infer_combine(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape &rows = *inputs[0], &weights = *inputs[1];
  require_matrix(keys, rows);
  const std::int64_t k = weights.size() == 2 ? weights[1] : 1;
  require_choices(keys, weights, rows[0] / k);
  if (rows[0] % k != 0)
    keys.fail("inputs", "combine of " + text_of(rows) + " with weights " + text_of(weights) +
                            ": expected as many rows as the weights have elements");
  LayerCounts counts;
  counts.shape = {rows[0] / k, rows[1]};
  counts.flop = checked_mul(elements_of(counts.shape), checked_mul(2, k, "FLOP") - 1, "FLOP");
  counts.backward = {.input_flop = checked_mul(elements_of(rows), 3, "FLOP"), .reads_inputs = true};
  return counts;
}

constexpr const char* paper =
    "Shazeer et al., Outrageously large neural networks: the sparsely-gated mixture-of-experts layer (2017), section 2";

}  // namespace

extern const LayerType top_k_layer, dispatch_layer, expert_matmul_layer, combine_layer;

const LayerType top_k_layer = {
    .name = "top_k",
    .summary = "Chooses the k largest elements of each row, with k FLOP per element.",
    .details =
        "This layer chooses the experts of each row in a mixture of experts. Its input has the "
        "scores of the experts. The layer `dispatch` reads the choices.",
    .source = "Shazeer et al. (2017), equation 5",
    .example = "{type: input, shape: [128, 8]}, {type: top_k, k: 2}",
    .parameters = {Key::integer("k", "the number of elements chosen in each row").at_least(1)},
    .infer = infer_top,
};

const LayerType dispatch_layer = {
    .name = "dispatch",
    .summary =
        "Makes a copy of each row for each expert that was chosen for the row, sorted by expert.",
    .details =
        "For each row of the input, the output has as many rows as there are experts per row. The layer computes "
        "nothing, but it reads and writes every copy.",
    .source = paper,
    .example =
        "{type: input, name: x, shape: [128, 64]}, {type: matmul, name: scores, features: 8}, "
        "{type: top_k, name: chosen, k: 2}, {type: dispatch, inputs: [x, chosen]}",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = infer_dispatch,
};

const LayerType expert_matmul_layer = {
    .name = "expert_matmul",
    .summary = "Multiplies each row by the weight matrix [columns, features] of its expert.",
    .details =
        "The weights of all experts are parameters, but each row is multiplied by only one matrix. "
        "For the number of bytes that are read, the rows are assumed to have different experts. If "
        "there are more rows than experts, each matrix is read once.",
    .source =
        "Gale et al., MegaBlocks: efficient sparse training with mixture-of-experts (2023), "
        "section 4: a product grouped by experts, without padding or dropped tokens",
    .example = "{type: input, shape: [256, 64]}, {type: expert_matmul, experts: 8, features: 128}",
    .parameters =
        {Key::integer("experts", "the number of weight matrices").at_least(1),
         Key::integer("features", "the number of columns of a weight matrix").at_least(1)},
    .infer = infer_matmul,
};

const LayerType combine_layer = {
    .name = "combine",
    .summary =
        "Adds up the k rows that the experts computed for each token, weighted by the second input. Each output takes "
        "2 k - 1 FLOP.",
    .details =
        "This layer is the last step of a mixture of experts. It makes one row from the k rows "
        "that the experts computed for a token. The backward pass takes 3 FLOP per element of the "
        "experts' rows, and reads both inputs.",
    .source = paper,
    .example =
        "{type: input, name: rows, shape: [256, 64]}, {type: input, name: weights, shape: [128, "
        "2]}, {type: combine, inputs: [rows, weights]}",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = infer_combine,
};

}  // namespace sluice
