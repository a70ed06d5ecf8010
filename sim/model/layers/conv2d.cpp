#include "base/quantity.hpp"
#include "model/catalog.hpp"
#include "model/layers/product.hpp"
#include "model/layers/shape.hpp"
#include "model/layers/window.hpp"

namespace sluice {
namespace {

void require_groups(const Reader& keys, std::int64_t groups, std::int64_t in, std::int64_t out) {
  const auto refuse = [&](const std::string& of) {
    keys.fail("groups",
              "'" + std::to_string(groups) + "' for 'groups': expected a divisor of " + of);
  };
  if (in % groups != 0) refuse("the " + std::to_string(in) + " input channels");
  if (out % groups != 0) refuse("the " + std::to_string(out) + " output channels");
}

// An output channel has one filter over the input channels of its group: kernel height x width x
// input channels / groups weights. Zeros of the padding are multiplied like everything else.
LayerCounts counts_of(const Reader& keys, const Shape& image, Shape output, const Window& window,
                      std::int64_t meets) {
  const std::int64_t channels = keys.integer("channels"), groups = keys.integer("groups");
  require_groups(keys, groups, image[2], channels);
  const std::int64_t filter = checked_mul(window.area(), image[2] / groups, "parameters");
  LayerCounts counts;
  counts.shape = std::move(output);
  counts.shape.push_back(channels);
  count_product(counts, keys, checked_mul(filter, channels, "parameters"), meets);
  counts.sight = sight_of(window);
  return counts;
}

// Each weight is used once an output pixel.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  require_image(keys, image);
  const Window window = read_window(keys);
  Shape output = slide(keys, window, image);
  const std::int64_t pixels = elements_of(output);
  return counts_of(keys, image, std::move(output), window, pixels);
}

// The convolution's shapes the other way round: each weight is used once an input pixel, and the
// products are summed where they overlap. What the padding cuts off is computed as well.
LayerCounts infer_transposed(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  require_image(keys, image);
  const Window window = read_window(keys);
  const Pair extra = read_pair(keys, "output_padding", 0);
  Shape output;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t steps = window.same ? image[axis] : image[axis] - 1;
    std::int64_t extent = checked_mul(steps, window.stride[axis], "elements");
    if (!window.same) extent = checked_add(extent, window.reach(axis), "elements");
    extent = checked_add(extent, extra[axis], "elements");
    const std::int64_t cut = checked_add(window.before[axis], window.after[axis], "padding");
    if (cut >= extent)
      keys.fail("padding", "a padding of " + std::to_string(cut) +
                               " in all leaves nothing of an output of " + std::to_string(extent) +
                               ", expected less");
    output.push_back(extent - cut);
  }
  LayerCounts counts =
      counts_of(keys, image, std::move(output), window, elements_of({image[0], image[1]}));
  counts.sight.kind = Sight::Kind::spread;
  return counts;
}

std::vector<Field> parameters() {
  std::vector<Field> fields = {{.name = "channels",
                                .type = Type::integer,
                                .summary = "output channels: the number of filters",
                                .minimum = 1}};
  for (const Field& field : window_fields("1")) fields.push_back(field);
  fields.push_back(dilation_field());
  fields.push_back({.name = "groups",
                    .type = Type::integer,
                    .summary = "parts into which the channels are split, each convolved alone; "
                               "as many as input channels: depthwise",
                    .default_text = "1",
                    .minimum = 1});
  fields.push_back({.name = "bias",
                    .type = Type::boolean,
                    .summary = "adds one parameter an output channel",
                    .default_text = "true"});
  fields.push_back(sparsity_field());
  return fields;
}

std::vector<Field> transposed_parameters() {
  std::vector<Field> fields = parameters();
  fields.push_back({.name = "output_padding",
                    .type = Type::any,
                    .summary = "rows and columns added to the output: an integer or [height, "
                               "width]",
                    .default_text = "0"});
  return fields;
}

}  // namespace

extern const LayerType conv2d_layer;
const LayerType conv2d_layer = {
    .name = "conv2d",
    .summary = "A convolution over an image, its filters as deep as the input or its group.",
    .source =
        "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, sections 2 "
        "and 5.1; groups: Krizhevsky, Sutskever and Hinton (2012), section 3.2",
    .parameters = parameters(),
    .infer = infer,
};

extern const LayerType conv_transpose2d_layer;
const LayerType conv_transpose2d_layer = {
    .name = "conv_transpose2d",
    .summary = "A transposed convolution: from the output's shape of a convolution to its input's.",
    .source = "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, section 4",
    .parameters = transposed_parameters(),
    .infer = infer_transposed,
};

}  // namespace sluice
