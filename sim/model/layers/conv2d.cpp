#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// Each filter is as deep as its input: kernel x kernel x input channels weights an output channel,
// each used once an output pixel. 2 FLOP a multiply-accumulate, and 1 an output for the bias.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  require_image(keys, image);
  const std::int64_t channels = keys.integer("channels"), kernel = keys.integer("kernel");
  const bool bias = keys.boolean("bias");
  LayerCounts counts;
  counts.shape = slide(keys, image, keys.integer("stride"));
  counts.shape.push_back(channels);
  const std::int64_t outputs = elements_of(counts.shape);
  const std::int64_t filter = elements_of({kernel, kernel, image[2]});
  counts.parameters = checked_mul(filter, channels, "parameters");
  counts.macs = checked_mul(outputs, filter, "multiply-accumulates");
  counts.flop = checked_mul(counts.macs, 2, "FLOP");
  if (bias) {
    counts.parameters = checked_add(counts.parameters, channels, "parameters");
    counts.flop = checked_add(counts.flop, outputs, "FLOP");
  }
  return counts;
}

std::vector<Field> parameters() {
  std::vector<Field> fields = {{.name = "channels",
                                .type = Type::integer,
                                .summary = "output channels: the number of filters",
                                .minimum = 1}};
  for (const Field& field : window_fields("1")) fields.push_back(field);
  fields.push_back({.name = "bias",
                    .type = Type::boolean,
                    .summary = "adds one parameter an output channel",
                    .default_text = "true"});
  return fields;
}

}  // namespace

extern const LayerType conv2d_layer;
const LayerType conv2d_layer = {
    .name = "conv2d",
    .summary = "A convolution over an image, its filters as deep as the input.",
    .source = "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, section 2",
    .parameters = parameters(),
    .infer = infer,
};

}  // namespace sluice
