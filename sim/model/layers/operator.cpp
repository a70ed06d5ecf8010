// The layer type `operator` is for an operator that has no layer type of its own. Its keys give the cost per element.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

std::int64_t each(const Reader& keys, const char* name, std::int64_t elements, const char* what) {
  return checked_mul(keys.integer(name), elements, what);
}

Shape output_of(const Reader& keys, const std::vector<const Shape*>& inputs) {
  if (keys.has("shape")) return read_shape(keys, "shape");
  Shape shape = *inputs[0];
  for (const Shape* input : inputs) shape = stretched(keys, shape, *input);
  return shape;
}

// A multiply-accumulate of the forward pass has two factors: an input, and a weight or another input. The backward
// pass has two multiply-accumulates instead, one for the gradient of each factor. Operations that are not
// multiply-accumulates are assumed to cost as much as in the forward pass. If the operator only adds its weights, the
// gradient of a weight is a sum of the output's gradients. This takes 1 FLOP per output.
Backward backward_of(const Reader& keys, const LayerCounts& counts, std::size_t inputs) {
  Backward backward;
  const std::int64_t output = elements_of(counts.shape);
  const std::int64_t products = checked_mul(counts.macs, 2, "FLOP");
  const bool by_another = counts.parameters == 0 && inputs > 1;
  backward.input_flop = checked_add(counts.flop, by_another ? products : 0, "FLOP");
  if (counts.parameters > 0) backward.weight_flop = counts.macs > 0 ? products : output;
  const bool computes = counts.flop > 0;
  const std::string keeps = keys.has("keeps") ? keys.text("keeps")
                            : computes        ? std::string("inputs")
                                              : "nothing";
  backward.reads_inputs = keeps == "inputs";
  backward.reads_output = keeps == "output";
  backward.kept_bytes = keys.integer("kept_bytes");
  return backward;
}

LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = output_of(keys, inputs);
  const std::int64_t output = elements_of(counts.shape), input = elements_of(*inputs[0]);
  counts.parameters = keys.integer("parameters");
  counts.macs =
      checked_add(each(keys, "macs", output, "multiply-accumulates"),
                  each(keys, "input_macs", input, "multiply-accumulates"), "multiply-accumulates");
  counts.flop =
      checked_add(checked_mul(counts.macs, 2, "FLOP"), each(keys, "flop", output, "FLOP"), "FLOP");
  counts.flop = checked_add(counts.flop, each(keys, "input_flop", input, "FLOP"), "FLOP");
  counts.backward = backward_of(keys, counts, inputs.size());
  if (!keys.has("shape") || keys.boolean("same_place"))
    counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

Field count_field(const char* name, const char* summary) {
  return Key::integer(name, summary).by_default("0");
}

}  // namespace

extern const LayerType operator_layer = {
    .name = "operator",
    .summary =
        "Describes an operator without a layer type of its own, by the shape of its output and its cost per element. "
        "An operator with only the key `shape` computes nothing: it moves, repeats or drops elements.",
    .details =
        "Use `operator` if no layer type fits. The keys give costs per element of the output or of the first input. So "
        "the cost of the operator grows with the shapes.",
    .source = "definition",
    .example = "{type: input, shape: [128, 768]}, {type: operator, flop: 12}",
    .parameters =
        {Key::list(
             "shape",
             "the extents of one sample of the output; by default the shape to which all inputs are stretched")
             .or_absent(),
         count_field("macs", "multiply-accumulates per element of the output"),
         count_field("input_macs", "multiply-accumulates per element of the first input"),
         count_field("flop", "FLOP per element of the output, without multiply-accumulates"),
         count_field("input_flop",
                     "FLOP per element of the first input, without multiply-accumulates"),
         count_field("parameters", "learned elements"),
         Key::choice(
             "keeps", {"inputs", "output", "nothing"},
             "the tensors that the backward pass reads; by default the inputs, or nothing if the "
             "operator computes nothing")
             .or_absent(),
         count_field(
             "kept_bytes",
             "the number of bytes per sample that are kept for the backward pass independently of the dtype, such as "
             "the bytes of masks and indices"),
         Key::boolean(
             "same_place",
             "for an operator with `shape`: whether each output pixel depends on only one input pixel. An operator "
             "that adds zeros around an image is an example")
             .by_default("false")},
    .min_inputs = 1,
    .max_inputs = any_number,
    .infer = infer,
};

}  // namespace sluice
