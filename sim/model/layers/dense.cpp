#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/product.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// The input is flattened. There is one weight for each pair of an input element and a feature, and each weight is used
// once per sample.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const std::int64_t features = keys.integer("features");
  LayerCounts counts;
  counts.shape = {features};
  const std::int64_t weights =
      checked_mul(elements_of(*inputs[0]), features, "multiply-accumulates");
  count_product(counts, keys, weights, 1);
  return counts;
}

}  // namespace

extern const LayerType dense_layer = {
    .name = "dense",
    .summary = "Connects each element of the flattened input with each feature.",
    .details =
        "For n elements of the flattened input, the layer has n x `features` weights. Each weight takes one "
        "multiply-accumulate of 2 FLOP. A bias adds 1 FLOP per feature. The backward pass computes two gradients: of "
        "the input and of the weights. Each takes as many multiply-accumulates as the forward pass. The backward "
        "pass reads the input. Use `dense` for the last layers of a network that classifies images. Use `matmul` if "
        "all rows of the input are multiplied by the same weights.",
    .source = "Goodfellow, Bengio and Courville, Deep Learning, section 6.1",
    .example = "{type: input, shape: [6, 6, 256]}, {type: dense, features: 4096}",
    .parameters =
        {Key::integer("features", "the number of output elements").at_least(1),
         Key::boolean("bias", "whether to add one parameter per feature").by_default("true"),
         sparsity_field()},
    .infer = infer,
};

}  // namespace sluice
