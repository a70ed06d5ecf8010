#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

LayerCounts infer(const Reader& keys, const std::vector<const Shape*>&) {
  LayerCounts counts;
  counts.shape = read_shape(keys, "shape");
  return counts;
}

}  // namespace

extern const LayerType input_layer = {
    .name = "input",
    .summary = "Gives the network its input. The input is one sample.",
    .details =
        "An input computes nothing and has no parameters. A model may have several inputs with different names. The "
        "shape is the shape of one sample. The workload of a scenario says how many samples a micro-batch has.",
    .source = "definition",
    .example = "{type: input, shape: [224, 224, 3]}",
    .parameters = {Key::list("shape",
                             "the extents of one sample; an image is [height, width, channels]")},
    .min_inputs = 0,
    .max_inputs = 0,
    .infer = infer,
};

}  // namespace sluice
