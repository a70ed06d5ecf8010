#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// kernel x kernel FLOP an output, as the table of seed 000 counts.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  require_image(keys, image);
  const std::int64_t kernel = keys.integer("kernel");
  LayerCounts counts;
  counts.shape = slide(keys, image, keys.has("stride") ? keys.integer("stride") : kernel);
  counts.shape.push_back(image[2]);
  counts.flop = checked_mul(elements_of(counts.shape), checked_mul(kernel, kernel, "FLOP"), "FLOP");
  return counts;
}

}  // namespace

extern const LayerType max_pool_layer;
const LayerType max_pool_layer = {
    .name = "max_pool",
    .summary = "The largest value of each window of an image, channel by channel.",
    .source = "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, section 3",
    .parameters = window_fields(std::nullopt),
    .infer = infer,
};

}  // namespace sluice
