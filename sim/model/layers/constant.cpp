// A tensor that is the same for every sample and that layers compute on: a table of distances, a
// mask. It reads nothing; the layer before it says when it is made.
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

LayerCounts infer(const Reader& keys, const std::vector<const Shape*>&) {
  LayerCounts counts;
  counts.shape = read_shape(keys, "shape");
  if (keys.boolean("learned")) counts.parameters = elements_of(counts.shape);
  return counts;
}

}  // namespace

extern const LayerType constant_layer;
const LayerType constant_layer = {
    .name = "constant",
    .summary = "A tensor that no sample changes and that layers compute on, such as a table.",
    .source = "Liu et al., Swin transformer V2 (2022), section 3.3, the table of coordinates",
    .parameters = {{.name = "shape",
                    .type = Type::list,
                    .summary = "extents; what computes on it does so for each sample"},
                   {.name = "learned",
                    .type = Type::boolean,
                    .summary = "its elements are parameters",
                    .default_text = "false"}},
    .infer = infer,
    .reads_nothing = true,
};

}  // namespace sluice
