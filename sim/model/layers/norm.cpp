// The layers that normalise. A layer computes mean and variance over the channels, or separately for each channel. The
// channels are the last axis of a shape.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// The FLOP per element in the forward pass and in the backward pass.
struct FlopPerElement {
  std::int64_t forward = 0, input_gradient = 0, weight_gradient = 0;
};

// The backward pass reads the input, and computes mean and variance again from it. Mean and variance are only two
// values per row, per channel or per group. So they do not count as kept tensors. Korthikanti et al. (2022),
// section 4.1, do not count them either.
LayerCounts counts_of(const Shape& shape, std::int64_t parameters, FlopPerElement per_element) {
  LayerCounts counts;
  counts.shape = shape;
  counts.parameters = checked_mul(shape.back(), parameters, "parameters");
  const std::int64_t elements = elements_of(shape);
  counts.flop = checked_mul(elements, per_element.forward, "FLOP");
  counts.backward = {.input_flop = checked_mul(elements, per_element.input_gradient, "FLOP"),
                     .weight_flop = checked_mul(elements, per_element.weight_gradient, "FLOP"),
                     .reads_inputs = true};
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

// For `batch_norm`. In inference, mean and variance are constants. So the four constants mean, variance, scale and
// shift are combined into one multiplication and one addition per element. The running mean and variance are not
// counted as parameters. Let g be the output's gradient. The backward pass takes these FLOP per element:
// - 4 for mean and variance of the batch: one for the mean (an addition), and three for the variance (a subtraction, a
//   square and an addition);
// - 2 for the normalised value z;
// - 3 for the sums of g and g z over the batch, which are also the gradients of shift and scale;
// - 4 for s (g - a - z b), where s, a and b are constant over the channel.
LayerCounts infer_batch(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const bool affine = keys.boolean("affine");
  return counts_of(*inputs[0], affine ? 2 : 0, {2, affine ? 10 : 13, affine ? 3 : 0});
}

// For `layer_norm` and `group_norm`. The forward pass takes these FLOP per element:
// - 1 for the mean: an addition;
// - 3 for the variance: a subtraction, a square and an addition;
// - 3 for the multiplication by 1 / sigma, the scale and the shift.
// The square root and all divisions happen once per row or group. They are not counted. Let g be the output's gradient.
// The backward pass takes these FLOP per element:
// - 4 for mean and variance;
// - 2 for the normalised value z;
// - 1 for h = g scale (without a scale h is g);
// - 3 for the sums of h and h z over the normalised elements;
// - 4 for s (h - a - z b), where s, a and b are constant over the normalised elements;
// - 3 for the gradients of shift and scale: the sums of g and g z over all axes except the channels.
LayerCounts normalised(const Reader& keys, const Shape& shape) {
  const bool affine = keys.boolean("affine");
  return affine ? counts_of(shape, 2, {7, 14, 3}) : counts_of(shape, 0, {5, 13, 0});
}

LayerCounts infer_layer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  return normalised(keys, *inputs[0]);
}

LayerCounts infer_group(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const std::int64_t groups = keys.integer("groups"), channels = inputs[0]->back();
  if (channels % groups != 0)
    keys.fail("groups", "'" + std::to_string(groups) +
                            "' for 'groups': expected a divisor of the " +
                            std::to_string(channels) + " channels");
  LayerCounts counts = normalised(keys, *inputs[0]);
  // Mean and variance depend on all places of the input, so each output element does, too.
  counts.dependence.kind = InputDependence::Kind::everything;
  return counts;
}

// For `rms_norm`. The forward pass takes 4 FLOP per element: a square, an addition, the multiplication by 1 / root mean
// square, and the multiplication by the scale. Let g be the output's gradient. The backward pass takes these FLOP per
// element:
// - 2 for the root mean square;
// - 1 for the normalised value z;
// - 1 for h = g scale;
// - 2 for the sum of h z;
// - 3 for s (h - z b), where s and b are constant over the row;
// - 2 for the gradient of the scale: the sum of g z.
LayerCounts infer_rms(const Reader&, const std::vector<const Shape*>& inputs) {
  return counts_of(*inputs[0], 1, {4, 9, 2});
}

Field affine_field() {
  return Key::boolean("affine",
                      "whether each channel has a scale and a shift, which are 2 parameters")
      .by_default("true");
}

}  // namespace

extern const LayerType batch_norm_layer = {
    .name = "batch_norm",
    .summary =
        "Normalises each channel: in training by the mean and variance of the batch, in inference by constants. The "
        "layer takes 2 FLOP per element.",
    .details =
        "For each channel, the formula is y = scale (x - mean) / sqrt(variance) + shift. It leaves out the small "
        "constant that is added to the variance. In inference, mean, variance, scale and shift are constants. So they "
        "are combined into one multiplication and one addition per element. Mean and variance do not count as "
        "parameters. The backward pass reads the input, and takes 13 FLOP per element. Of these 13 FLOP, 4 compute "
        "mean and variance of the batch again.",
    .source = "Ioffe and Szegedy, Batch normalization (2015), algorithm 2",
    .example = "{type: input, shape: [56, 56, 64]}, {type: batch_norm}",
    .parameters = {affine_field()},
    .infer = infer_batch,
};

extern const LayerType layer_norm_layer = {
    .name = "layer_norm",
    .summary =
        "Normalises each row along the last axis, with 7 FLOP per element, or 5 FLOP per element without scale and "
        "shift.",
    .details =
        "The formula is y = scale (x - mean) / sigma + shift. Each row has its mean and its standard deviation "
        "sigma. An element takes 7 FLOP: 1 for the mean, 3 for the variance, 1 for the product with 1 / sigma, 1 for "
        "the scale, and 1 for the shift. The backward pass takes 17 FLOP per element, or 13 FLOP without scale and "
        "shift. The backward pass reads the input, and computes mean and variance again. Use `layer_norm` for "
        "transformers.",
    .source = "Ba, Kiros and Hinton, Layer normalization (2016), section 3",
    .example = "{type: input, shape: [128, 768]}, {type: layer_norm}",
    .parameters = {affine_field()},
    .infer = infer_layer,
};

extern const LayerType group_norm_layer = {
    .name = "group_norm",
    .summary =
        "Normalises over groups of channels, with 7 FLOP per element, or 5 FLOP per element without scale and shift.",
    .details =
        "The formula is the same as for `layer_norm`. But mean and standard deviation are taken over all elements of a "
        "group of channels. The backward pass takes 17 FLOP per element, or 13 FLOP without scale and shift. It reads "
        "the input, and computes mean and variance again. Use `group_norm` for image networks that are trained with "
        "small batches.",
    .source = "Wu and He, Group normalization (2018), section 3",
    .example = "{type: input, shape: [32, 32, 64]}, {type: group_norm, groups: 8}",
    .parameters = {Key::integer("groups",
                                "the number of groups into which the channels are divided")
                       .at_least(1),
                   affine_field()},
    .infer = infer_group,
};

extern const LayerType rms_norm_layer = {
    .name = "rms_norm",
    .summary = "Divides each row by its root mean square, and scales it, with 4 FLOP per element.",
    .details =
        "The formula is y = scale x / sqrt(mean of x x) for each row. The scale is one parameter per feature. An "
        "element takes 2 FLOP for the mean of the squares, 1 for the product with the inverse of the root, and 1 for "
        "the scale. The backward pass takes 11 FLOP per element. It reads the input, and computes the root mean "
        "square again. Use `rms_norm` for transformers such as Llama.",
    .source = "Zhang and Sennrich, Root mean square layer normalization (2019), section 4",
    .example = "{type: input, shape: [128, 4096]}, {type: rms_norm}",
    .infer = infer_rms,
};

}  // namespace sluice
