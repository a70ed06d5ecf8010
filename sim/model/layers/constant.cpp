// A constant is a tensor that is the same for every sample, such as a table of distances or a mask. Other layers
// compute with this tensor. The layer does not read the values of its input. The constant is made after the layer that
// makes this input.
#include "document/key.hpp"
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

extern const LayerType constant_layer = {
    .name = "constant",
    .summary =
        "Provides a tensor, such as a table, as an input of other layers. The tensor is the same for every sample.",
    .details =
        "The layer does not read the values of its input. The constant is made after the layer "
        "that makes this input. If a layer reads a constant, it computes once per sample, as all "
        "layers do.",
    .source = "Liu et al., Swin transformer V2 (2022), section 3.3, the table of coordinates",
    .example =
        "{type: input, name: x, shape: [49, 96]}, {type: constant, name: table, shape: [49, 96], "
        "learned: true}, {type: add, inputs: [x, table]}",
    .parameters = {Key::list("shape",
                             "the extents of the tensor, which is the same for all samples"),
                   Key::boolean("learned", "whether the elements of the tensor are parameters")
                       .by_default("false")},
    .infer = infer,
    .reads_nothing = true,
};

}  // namespace sluice
