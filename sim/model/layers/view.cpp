// Four layers: `flatten` and `reshape` give the elements another shape, `take_row` takes one row, and `dropout` sets
// elements to zero. The first three layers are views: their output lies in the memory of their input, so they compute
// and move nothing. A later layer that needs the output for its backward pass keeps the view's input instead.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

LayerCounts infer_flatten(const Reader&, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = {elements_of(*inputs[0])};
  return counts;
}

LayerCounts infer_reshape(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const std::int64_t elements = elements_of(*inputs[0]);
  LayerCounts counts;
  const Value* rest = nullptr;
  std::size_t rest_axis = 0;
  for (const Value& extent : keys.value("shape")->items()) {
    const bool integer = extent.kind() == Value::Kind::integer;
    if (integer && extent.as_integer() == -1 && !rest) {
      rest = &extent;
      rest_axis = counts.shape.size();
    } else if (!integer || extent.as_integer() < 1) {
      fail_at(
          extent,
          "'" + extent.text() +
              "' in 'shape': expected an integer of at least 1, or -1 once, for the remaining extent");
    }
    counts.shape.push_back(rest == &extent ? 1 : extent.as_integer());
  }
  const std::int64_t written = elements_of(counts.shape);
  if (counts.shape.empty() || (rest ? elements % written != 0 : elements != written))
    keys.fail("shape", "'shape' does not hold the " + std::to_string(elements) +
                           " elements of the input " + text_of(*inputs[0]));
  if (rest) counts.shape[rest_axis] = elements / written;
  return counts;
}

LayerCounts infer_row(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& rows = *inputs[0];
  const std::int64_t row = keys.integer("row");
  if (rows.size() < 2)
    keys.fail("type", "take_row needs an input of [rows, ...], got " + text_of(rows));
  if (row >= rows[0])
    keys.fail("row", "'" + std::to_string(row) + "' for 'row': the input " + text_of(rows) +
                         " has the rows 0 to " + std::to_string(rows[0] - 1));
  LayerCounts counts;
  counts.shape = Shape(rows.begin() + 1, rows.end());
  return counts;
}

// Training keeps a mask of 1 byte per element (Korthikanti et al. 2022, section 4.1). The mask says which elements were
// set to zero. The backward pass takes 2 FLOP per element: one multiplication of the gradient by the mask, and one by 1
// / (1 - rate).
LayerCounts infer_dropout(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  const std::int64_t elements = elements_of(counts.shape);
  // A dropout with the rate 0 does nothing, so the model has such a layer only if its seconds were measured.
  if (keys.number("rate") > 0)
    counts.backward = {.input_flop = checked_mul(elements, 2, "FLOP"), .kept_bytes = elements};
  counts.dependence.kind = InputDependence::Kind::same_place;
  return counts;
}

}  // namespace

extern const LayerType flatten_layer = {
    .name = "flatten",
    .summary = "Gives its input a shape with a single axis.",
    .details =
        "The output has the same memory as the input. So the layer computes and moves nothing. A later layer that "
        "needs the output for its backward pass keeps the input. Use `flatten` after a layer that returns an image, "
        "and before a layer that needs an input with one axis. `dense` needs no `flatten`: it flattens its input "
        "itself.",
    .source = "definition",
    .example = "{type: input, shape: [6, 6, 256]}, {type: flatten}",
    .infer = infer_flatten,
    .view = true,
};

extern const LayerType reshape_layer = {
    .name = "reshape",
    .summary = "Gives the elements of its input another shape.",
    .details =
        "The layer computes and moves nothing, because its output has the same memory as its input. The input and "
        "the output must have the same number of elements. For example, use `reshape` to turn an image of patches into "
        "a sequence of tokens.",
    .source = "definition",
    .example = "{type: input, shape: [14, 14, 768]}, {type: reshape, shape: [196, 768]}",
    .parameters = {Key::list(
        "shape",
        "the extents of one sample of the output. One extent may be -1: then it follows from the other extents")},
    .infer = infer_reshape,
    .view = true,
};

extern const LayerType take_row_layer = {
    .name = "take_row",
    .summary = "Takes one row of its input, along the first axis.",
    .details =
        "The output is a part of the memory of the input. So the layer computes and moves nothing. Some transformers "
        "classify their input. Their last layers read only the first row: use `take_row` before these layers.",
    .source = "definition",
    .example = "{type: input, shape: [197, 768]}, {type: take_row, row: 0}",
    .parameters = {Key::integer("row", "the number of the row, counted from 0").by_default("0")},
    .infer = infer_row,
    .view = true,
};

extern const LayerType dropout_layer = {
    .name = "dropout",
    .summary = "Sets elements to zero at random in training, and does nothing in inference.",
    .details =
        "Training keeps a mask of 1 byte per element. The mask says which elements were set to zero. The backward pass "
        "takes 2 FLOP per element: one multiplication of the gradient by the mask, and one by 1 / (1 - rate). The "
        "forward pass takes no FLOP.",
    .source =
        "Srivastava et al., Dropout (2014), section 4; its mask: Korthikanti et al. (2022), section 4.1",
    .example = "{type: input, shape: [4096]}, {type: dropout, rate: 0.5}",
    .parameters =
        {Key::number(
             "rate",
             "the share of the elements that are set to zero. If the rate is 0, the layer is left out of the "
             "model")
             .by_default("0.5")
             .at_most(1)},
    .infer = infer_dropout,
    .does_nothing = [](const Reader& keys) { return keys.number("rate") == 0; },
};

}  // namespace sluice
