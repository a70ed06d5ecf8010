// Layers with which ranks exchange data. A rank is one of several devices that compute a model together. These layers
// occur in a model that is one rank's share of a larger model. A model has no links, so these layers only change
// shapes. They take no time and no FLOP.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

LayerCounts infer_gather(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  counts.shape[0] = checked_mul(counts.shape[0], keys.integer("ranks"), "the first extent");
  return counts;
}

LayerCounts infer_scatter(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  const std::int64_t ranks = keys.integer("ranks");
  if (counts.shape[0] % ranks != 0)
    keys.fail("ranks", "'" + std::to_string(ranks) +
                           "' for 'ranks': expected a divisor of the first extent of the input " +
                           text_of(*inputs[0]));
  counts.shape[0] /= ranks;
  return counts;
}

Field ranks_field() {
  return Key::integer("ranks", "the number of ranks that share the tensor, including this rank")
      .at_least(1);
}

}  // namespace

extern const LayerType all_gather_layer, reduce_scatter_layer;

// This layer counts as a view, so only its input is kept for the backward pass: the rank's own part of the tensor. For
// the backward pass, the rank gathers the whole tensor again.
const LayerType all_gather_layer = {
    .name = "all_gather",
    .summary =
        "Puts the parts of all ranks together along the first axis, and gives every rank the whole "
        "tensor.",
    .details =
        "Use this layer in a model that is one rank's share of a larger model. A model has no links, so the exchange "
        "takes no time.",
    .source =
        "Korthikanti et al., Reducing activation recomputation in large transformer models (2022), section 4.2.2",
    .example = "{type: input, shape: [64, 768]}, {type: all_gather, ranks: 4}",
    .parameters = {ranks_field()},
    .infer = infer_gather,
    .view = true,
};

const LayerType reduce_scatter_layer = {
    .name = "reduce_scatter",
    .summary = "Sums the tensors of all ranks. Each rank gets a part of the sum along axis 0.",
    .details =
        "Use this layer in a model that is one rank's share of a larger model. A model has no links, so the exchange "
        "takes no time.",
    .source =
        "Korthikanti et al., Reducing activation recomputation in large transformer models (2022), section 4.2.2",
    .example = "{type: input, shape: [256, 768]}, {type: reduce_scatter, ranks: 4}",
    .parameters = {ranks_field()},
    .infer = infer_scatter,
};

}  // namespace sluice
