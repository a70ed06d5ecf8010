// Convolutions and transposed convolutions over 1, 2 and 3 axes. The channels are the last axis of each shape.
#include "base/quantity.hpp"
#include "document/key.hpp"
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

// Each output channel has one filter. A filter covers the input channels of its group. So it has (elements of the
// kernel) x (input channels / groups) weights. Zeros of the padding are multiplied like all other values. `meets` is
// how often each weight is used per sample.
LayerCounts counts_of(const Reader& keys, const Shape& image, Shape output, const Window& window,
                      std::int64_t meets) {
  const std::int64_t channels = keys.integer("channels"), groups = keys.integer("groups");
  require_groups(keys, groups, image.back(), channels);
  const std::int64_t filter = checked_mul(window.area(), image.back() / groups, "parameters");
  LayerCounts counts;
  counts.shape = std::move(output);
  counts.shape.push_back(channels);
  count_product(counts, keys, checked_mul(filter, channels, "parameters"), meets);
  counts.dependence = dependence_of(window);
  return counts;
}

// In a convolution, each weight is used once for each output pixel.
template <std::size_t axes>
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  require_axes(keys, image, axes);
  const Window window = read_window(keys, axes);
  Shape output = slide(keys, window, image);
  const std::int64_t pixels = elements_of(output);
  return counts_of(keys, image, std::move(output), window, pixels);
}

// In a transposed convolution, the input and the output have changed places: each weight is used once for each input
// pixel. All products that belong to the same output pixel are added up. The padding cuts off some output pixels, but
// their products are computed and counted, too.
template <std::size_t axes>
LayerCounts infer_transposed(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  require_axes(keys, image, axes);
  const Window window = read_window(keys, axes);
  const Shape extra = read_extents(keys, "output_padding", axes, 0);
  Shape output;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t steps = window.same ? image[axis] : image[axis] - 1;
    std::int64_t extent = checked_mul(steps, window.stride[axis], "elements");
    if (!window.same) extent = checked_add(extent, window.reach(axis), "elements");
    extent = checked_add(extent, extra[axis], "elements");
    const std::int64_t cut = checked_add(window.before[axis], window.after[axis], "padding");
    if (cut >= extent)
      keys.fail("padding", "a padding of " + std::to_string(cut) +
                               " on both sides together leaves nothing of an output of " +
                               std::to_string(extent) + ", expected less");
    output.push_back(extent - cut);
  }
  LayerCounts counts = counts_of(keys, image, std::move(output), window,
                                 elements_of(Shape(image.begin(), image.end() - 1)));
  counts.dependence.kind = InputDependence::Kind::spread;
  return counts;
}

std::vector<Field> parameters(std::size_t axes) {
  std::vector<Field> fields = {
      Key::integer("channels", "the number of output channels, each of which has one filter")
          .at_least(1)};
  for (const Field& field : window_fields(axes, "1")) fields.push_back(field);
  fields.push_back(dilation_field(axes));
  fields.push_back(
      Key::integer(
          "groups",
          "the number of groups of channels that are convolved separately; with as many groups as input channels, "
          "the convolution is depthwise")
          .by_default("1")
          .at_least(1));
  fields.push_back(
      Key::boolean("bias", "whether to add one parameter per output channel").by_default("true"));
  fields.push_back(sparsity_field());
  return fields;
}

std::vector<Field> transposed_parameters(std::size_t axes) {
  std::vector<Field> fields = parameters(axes);
  fields.push_back(
      Key::any("output_padding",
               "the number of elements added to the output along each axis: an integer or " +
                   axes_text(axes))
          .by_default("0"));
  return fields;
}

LayerType convolution(std::string name, std::string over, decltype(LayerType::infer) infer_counts,
                      std::size_t axes, std::string example) {
  return {
      .name = std::move(name),
      .summary = "Convolves " + over + ". Each filter covers all input channels of its group.",
      .details =
          "Let p be the padding of both sides together. Along an axis of n values the output has floor((n + p - "
          "dilation (kernel - 1) - 1) / stride) + 1 values. With `padding: same` the output has ceil(n / stride) "
          "values. The layer has (values of the kernel) x (input channels / groups) x `channels` weights. Each weight "
          "takes one multiply-accumulate of 2 FLOP per position of the output. Products with zeros of the padding "
          "are counted, too. A bias adds 1 FLOP per output. The backward pass computes two gradients: of the input "
          "and of the weights. Each takes as many multiply-accumulates as the forward pass. The backward pass reads "
          "the input.",
      .source =
          "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, sections 2 "
          "and 5.1; groups: Krizhevsky, Sutskever and Hinton (2012), section 3.2",
      .example = std::move(example),
      .parameters = parameters(axes),
      .infer = infer_counts,
  };
}

LayerType transposed(std::string name, std::string over, decltype(LayerType::infer) infer_counts,
                     std::size_t axes, std::string example) {
  return {
      .name = std::move(name),
      .summary = "Computes a transposed convolution over " + over +
                 ": compared with a convolution, the shapes of input and output are exchanged.",
      .details =
          "Let p be the padding of both sides together. Along an axis of n values the output has (n - 1) stride + "
          "dilation (kernel - 1) + 1 + output_padding - p values. With `padding: same` the output has n stride + "
          "output_padding values. Each weight takes one multiply-accumulate of 2 FLOP per position of the input. "
          "Products that belong to the same output are summed. Outputs that the padding cuts off are also computed. "
          "The backward pass computes two gradients: of the input and of the weights. Each takes as many "
          "multiply-accumulates as the forward pass. The backward pass reads the input. Use this layer to enlarge an "
          "image, as decoders of segmentation networks do.",
      .source =
          "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, section 4",
      .example = std::move(example),
      .parameters = transposed_parameters(axes),
      .infer = infer_counts,
  };
}

}  // namespace

extern const LayerType conv1d_layer, conv2d_layer, conv3d_layer, conv_transpose1d_layer,
    conv_transpose2d_layer, conv_transpose3d_layer;

const LayerType conv1d_layer =
    convolution("conv1d", "a signal [length, channels]", infer<1>, 1,
                "{type: input, shape: [100, 8]}, {type: conv1d, channels: 16, kernel: 3}");
const LayerType conv2d_layer = convolution("conv2d", "an image", infer<2>, 2,
                                           "{type: input, shape: [224, 224, 3]}, {type: conv2d, "
                                           "channels: 64, kernel: 7, stride: 2, padding: 3}");
const LayerType conv3d_layer = convolution(
    "conv3d", "a volume [depth, height, width, channels]", infer<3>, 3,
    "{type: input, shape: [16, 32, 32, 3]}, {type: conv3d, channels: 8, kernel: 3, padding: same}");
const LayerType conv_transpose1d_layer = transposed(
    "conv_transpose1d", "a signal", infer_transposed<1>, 1,
    "{type: input, shape: [50, 8]}, {type: conv_transpose1d, channels: 4, kernel: 2, stride: 2}");
const LayerType conv_transpose2d_layer = transposed(
    "conv_transpose2d", "an image", infer_transposed<2>, 2,
    "{type: input, shape: [16, 16, 8]}, {type: conv_transpose2d, channels: 4, kernel: 2, stride: 2}");
const LayerType conv_transpose3d_layer = transposed(
    "conv_transpose3d", "a volume", infer_transposed<3>, 3,
    "{type: input, shape: [8, 8, 8, 4]}, {type: conv_transpose3d, channels: 2, kernel: 2, stride: 2}");

}  // namespace sluice
