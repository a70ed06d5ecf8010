// In a pooling, each output depends on one window of one channel. The input is a signal, an image or a volume. A window
// extends along all axes of the input except the last axis, the channels.
#include <numeric>

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"
#include "model/layers/window.hpp"

namespace sluice {
namespace {

/// Returns the number of axes that are pooled: all except the channels.
std::size_t axes_of(const Reader& keys, const Shape& image) {
  if (image.size() < 2 || image.size() > 4)
    keys.fail("type", keys.text("type") +
                          " needs an input of [length, channels], [height, width, channels] or "
                          "[depth, height, width, channels], got " +
                          text_of(image));
  return image.size() - 1;
}

// For each output, counts one FLOP per element of the output's window. The table `models/alexnet_data_island.json` has
// the same counts. For a mean of n elements, the count is exact: n - 1 additions and one division. For a maximum of n
// elements, the count is 1 too high, because a maximum takes only n - 1 comparisons.
LayerCounts counts_of(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  const Window window = read_pool_window(keys, axes_of(keys, image));
  LayerCounts counts;
  counts.shape = slide(keys, window, image, keys.boolean("ceil"));
  counts.shape.push_back(image.back());
  counts.flop = checked_mul(elements_of(counts.shape), window.area(), "FLOP");
  counts.dependence = dependence_of(window);
  return counts;
}

// The position of each maximum is kept as an index of 8 bytes per output, as in PyTorch's max_pool2d. PyTorch also
// keeps the input, but reads only the input's shape. So the input is not counted. The backward pass adds each gradient
// at the position of its maximum, with 1 FLOP per output.
LayerCounts infer_max(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts = counts_of(keys, inputs);
  const std::int64_t outputs = elements_of(counts.shape);
  counts.backward = {.input_flop = outputs, .kept_bytes = checked_mul(outputs, 8, "kept bytes")};
  return counts;
}

// For each mean of n elements, the backward pass divides the gradient of the mean by n. It adds the quotient to the
// gradients of the n elements. This counts as n FLOP, as in the forward pass. The backward pass reads no activation.
LayerCounts infer_mean(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts = counts_of(keys, inputs);
  counts.backward.input_flop = counts.flop;
  return counts;
}

LayerCounts infer_global(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  LayerCounts counts;
  counts.shape = Shape(axes_of(keys, image), 1);
  counts.shape.push_back(image.back());
  counts.flop = counts.backward.input_flop = elements_of(image);
  return counts;
}

// Let an axis have n elements and m windows. Window i reaches from floor(i n / m) to ceil((i + 1) n / m). The border
// between window i - 1 and window i is at i n / m. If this is not a whole number, the two windows share one element.
// There are m - 1 such borders, and gcd(n, m) - 1 of them are at whole numbers. So m - gcd(n, m) elements are shared.
// The sizes of all windows add up to n + m - gcd(n, m).
LayerCounts infer_adaptive(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& image = *inputs[0];
  const Shape output = read_extents(keys, "output", axes_of(keys, image));
  LayerCounts counts;
  counts.shape = output;
  counts.shape.push_back(image.back());
  counts.flop = image.back();
  for (std::size_t axis = 0; axis < output.size(); ++axis) {
    const std::int64_t common = std::gcd(image[axis], output[axis]);
    const std::int64_t read = checked_add(image[axis], output[axis] - common, "FLOP");
    counts.flop = checked_mul(counts.flop, read, "FLOP");
  }
  counts.backward.input_flop = counts.flop;
  // If the input's extent is a multiple of the output's extent, the windows are equally long and do not overlap.
  InputDependence dependence{.kind = InputDependence::Kind::window, .reach = {}, .stride = {}};
  for (std::size_t axis = 0; axis < output.size(); ++axis) {
    if (image[axis] % output[axis] != 0) return counts;
    dependence.reach.push_back(image[axis] / output[axis]);
  }
  dependence.stride = dependence.reach;
  counts.dependence = std::move(dependence);
  return counts;
}

std::vector<Field> window_parameters() {
  std::vector<Field> fields = window_fields(0, std::nullopt);
  fields.push_back(dilation_field(0));
  fields.push_back(ceil_field());
  return fields;
}

constexpr const char* guide =
    "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, section 3";

}  // namespace

extern const LayerType max_pool_layer = {
    .name = "max_pool",
    .summary = "Takes the largest value of each window of an image, channel by channel.",
    .details =
        "Each output takes 1 FLOP per element of its window. Training keeps the position of each maximum as an index "
        "of 8 bytes per output, like PyTorch's max_pool2d. The backward pass adds each gradient at the position of its "
        "maximum, with 1 FLOP per output. The backward pass does not read the input or the output.",
    .source = guide,
    .example =
        "{type: input, shape: [112, 112, 64]}, {type: max_pool, kernel: 3, stride: 2, padding: 1}",
    .parameters = window_parameters(),
    .infer = infer_max,
};

extern const LayerType avg_pool_layer = {
    .name = "avg_pool",
    .summary = "Takes the mean of each window of an image, channel by channel.",
    .details =
        "Each output takes 1 FLOP per element of its window. A window of n elements takes n - 1 additions and one "
        "division. The backward pass takes as many FLOP as the forward pass. It reads no activation.",
    .source = guide,
    .example = "{type: input, shape: [8, 8, 64]}, {type: avg_pool, kernel: 2}",
    .parameters = window_parameters(),
    .infer = infer_mean,
};

extern const LayerType global_avg_pool_layer = {
    .name = "global_avg_pool",
    .summary = "Takes the mean of each channel; for an image the output is [1, 1, channels].",
    .details =
        "The layer takes 1 FLOP per element of the input. The backward pass takes as many FLOP as the forward pass. "
        "It reads no activation. Use this layer before the last dense layer of an image network. Then the dense layer "
        "has the same number of weights for images of all sizes.",
    .source = "Lin, Chen and Yan, Network in network (2014), section 3.2",
    .example = "{type: input, shape: [7, 7, 512]}, {type: global_avg_pool}",
    .infer = infer_global,
};

extern const LayerType adaptive_avg_pool_layer = {
    .name = "adaptive_avg_pool",
    .summary =
        "Takes the mean of each window of an image. The output has the given size, and the windows follow from this "
        "size.",
    .details =
        "Along an axis of n elements, window i of m reaches from floor(i n / m) to ceil((i + 1) n / m). Neighbouring "
        "windows may share an element. The layer takes 1 FLOP per element of each window. The backward pass takes as "
        "many FLOP as the forward pass. It reads no activation. Use this layer for networks that accept images of "
        "any size.",
    .source =
        "PyTorch, torch.nn.AdaptiveAvgPool2d; for the windows: He et al., Spatial pyramid pooling (2014), section 2.3",
    .example = "{type: input, shape: [13, 13, 256]}, {type: adaptive_avg_pool, output: 6}",
    .parameters = {Key::any(
        "output",
        "the size of the output: one integer for all axes, or one integer per axis, such as [height, "
        "width]")},
    .infer = infer_adaptive,
};

}  // namespace sluice
