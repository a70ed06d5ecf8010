// What the ranks of a group exchange in the middle of a model that is one rank's share of another:
// shapes alone. They take no time and no FLOP; a model knows no links.
#include "base/quantity.hpp"
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
  return {.name = "ranks",
          .type = Type::integer,
          .summary = "ranks that share the tensor, this one among them",
          .minimum = 1};
}

}  // namespace

extern const LayerType all_gather_layer, reduce_scatter_layer;

// A view: of the whole tensor a rank keeps its own part, and gathers it again for the backward
// pass.
const LayerType all_gather_layer = {
    .name = "all_gather",
    .summary = "A tensor of which each rank has a part along the first axis, whole.",
    .source =
        "Korthikanti et al., Reducing activation recomputation in large transformer models (2022), "
        "section 4.2.2",
    .parameters = {ranks_field()},
    .infer = infer_gather,
    .view = true,
};

const LayerType reduce_scatter_layer = {
    .name = "reduce_scatter",
    .summary = "A rank's part, along the first axis, of the sum over the ranks.",
    .source =
        "Korthikanti et al., Reducing activation recomputation in large transformer models (2022), "
        "section 4.2.2",
    .parameters = {ranks_field()},
    .infer = infer_scatter,
};

}  // namespace sluice
