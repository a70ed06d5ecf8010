// Layers that join branches: `add` and `mul` combine their inputs element by element, and `concat` puts its inputs end
// to end.
#include "base/quantity.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// For each input after the first, the layer takes 1 FLOP per element of the output. An input with fewer elements than
// the output is stretched: each of its elements stands for several elements. The backward pass adds up the gradients of
// these elements, with 1 FLOP per element of the output for each stretched input.
LayerCounts infer_each(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  for (const Shape* input : inputs) counts.shape = stretched(keys, counts.shape, *input);
  const std::int64_t outputs = elements_of(counts.shape);
  counts.flop = checked_mul(outputs, static_cast<std::int64_t>(inputs.size()) - 1, "FLOP");
  for (const Shape* input : inputs)
    if (elements_of(*input) != outputs)
      counts.backward.input_flop = checked_add(counts.backward.input_flop, outputs, "FLOP");
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

// Let n be the number of inputs. In the backward pass, the gradient of an input is the product of the output's gradient
// and the other n - 1 inputs.
LayerCounts infer_product(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts = infer_each(keys, inputs);
  const std::int64_t products =
      checked_mul(counts.flop, static_cast<std::int64_t>(inputs.size()), "FLOP");
  counts.backward.input_flop = checked_add(counts.backward.input_flop, products, "FLOP");
  counts.backward.reads_inputs = true;
  return counts;
}

// The layer computes nothing, but copies its inputs into the output. The backward pass splits the gradient of the
// output into the gradients of the inputs.
LayerCounts infer_concat(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& first = *inputs[0];
  const std::size_t axis = axis_of(keys, first);
  LayerCounts counts;
  counts.shape = first;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Shape other = *inputs[i];
    const std::int64_t more = axis < other.size() ? other[axis] : 0;
    if (axis < other.size()) other[axis] = first[axis];
    if (other != first)
      keys.fail("inputs", "concat of " + text_of(first) + " and " + text_of(*inputs[i]) +
                              ": expected equal extents except along axis " + std::to_string(axis));
    counts.shape[axis] = checked_add(counts.shape[axis], more, "elements");
  }
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

}  // namespace

extern const LayerType add_layer = {
    .name = "add",
    .summary =
        "Adds its inputs, element by element, with 1 FLOP per output for each input after the first.",
    .details =
        "Shapes are stretched as in NumPy: they are aligned at the last axis, and an extent of 1 "
        "is repeated. The backward pass reads no activation. For each input that was stretched, it "
        "adds up gradients, with 1 FLOP per output. Use `add` for residual connections.",
    .source =
        "He et al., Deep residual learning (2016), section 3.2; stretching as in the NumPy user guide, Broadcasting",
    .example =
        "{type: input, name: x, shape: [56, 56, 64]}, {type: relu, name: branch}, {type: add, inputs: [x, branch]}",
    .min_inputs = 2,
    .max_inputs = any_number,
    .infer = infer_each,
};

extern const LayerType mul_layer = {
    .name = "mul",
    .summary =
        "Multiplies its inputs, element by element, with 1 FLOP per output for each input after the first.",
    .details =
        "Shapes are stretched as in NumPy: they are aligned at the last axis, and an extent of 1 "
        "is repeated. For n inputs the backward pass takes n (n - 1) FLOP per output. The gradient "
        "of each input is the product of the output's gradient and the other n - 1 inputs. The "
        "backward pass reads all inputs. For each stretched input, the backward pass takes 1 FLOP "
        "per output in addition. Use `mul` for gates.",
    .source =
        "Hu, Shen and Sun, Squeeze-and-excitation networks (2018), section 3.2; stretching "
        "as in the NumPy user guide, Broadcasting",
    .example =
        "{type: input, name: x, shape: [56, 56, 64]}, {type: sigmoid, name: gate}, {type: mul, inputs: [x, gate]}",
    .min_inputs = 2,
    .max_inputs = any_number,
    .infer = infer_product,
};

extern const LayerType concat_layer = {
    .name = "concat",
    .summary = "Joins its inputs end to end along an axis.",
    .details =
        "All extents except the extent of this axis must be equal. The layer takes no FLOP, but it "
        "copies its inputs into the output. If the cost model counts bytes, these copies take "
        "time. The backward pass splits the gradient into one part per input, and reads no activation. Use `concat` "
        "to join branches, as in DenseNet and U-Net.",
    .source = "Huang et al., Densely connected convolutional networks (2017), section 3",
    .example =
        "{type: input, name: x, shape: [28, 28, 64]}, {type: relu, name: branch}, {type: concat, inputs: [x, branch]}",
    .parameters = {axis_field()},
    .min_inputs = 2,
    .max_inputs = any_number,
    .infer = infer_concat,
};

}  // namespace sluice
