#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/product.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// The input is [rows, columns], and the weights are [columns, features]. So each row is multiplied
// by all weights.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& input = *inputs[0];
  if (input.size() != 2)
    keys.fail("type", "matmul needs an input of [rows, columns], got " + text_of(input));
  const std::int64_t features = keys.integer("features");
  LayerCounts counts;
  counts.shape = {input[0], features};
  count_product(counts, keys, checked_mul(input[1], features, "parameters"), input[0]);
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

}  // namespace

extern const LayerType matmul_layer = {
    .name = "matmul",
    .summary = "Multiplies a matrix [rows, columns] by a weight matrix [columns, features].",
    .details =
        "The product takes rows x columns x features multiply-accumulates of 2 FLOP each. A bias adds 1 FLOP per "
        "output. The backward pass computes two gradients: of the input and of the weights. Each gradient takes as "
        "many multiply-accumulates as the forward pass. The backward pass reads the input. Use `matmul` for sequences, "
        "whose rows are tokens. Use `dense` if each element of a sample has weights of its own.",
    .source = "PopART phased execution",
    .example = "{type: input, shape: [128, 768]}, {type: matmul, features: 3072}",
    .parameters =
        {Key::integer("features", "the number of columns of the weight matrix").at_least(1),
         Key::boolean("bias", "whether to add one parameter per feature").by_default("false"),
         sparsity_field()},
    .infer = infer,
};

}  // namespace sluice
