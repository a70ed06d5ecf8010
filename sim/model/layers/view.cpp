// Layers that compute nothing: other shapes of the same elements, and what inference leaves out.
// Their output counts as a tensor like any other layer's.
#include "base/quantity.hpp"
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
      fail_at(extent, "'" + extent.text() +
                          "' in 'shape': expected an integer of at least 1, or once -1, the rest");
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

LayerCounts infer_same(const Reader&, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  return counts;
}

}  // namespace

extern const LayerType flatten_layer;
const LayerType flatten_layer = {
    .name = "flatten",
    .summary = "The same elements along one axis.",
    .source = "definition",
    .parameters = {},
    .infer = infer_flatten,
};

extern const LayerType reshape_layer;
const LayerType reshape_layer = {
    .name = "reshape",
    .summary = "The same elements in another shape.",
    .source = "definition",
    .parameters = {{.name = "shape",
                    .type = Type::list,
                    .summary = "extents of one sample; one may be -1, which is what is left"}},
    .infer = infer_reshape,
};

extern const LayerType dropout_layer;
const LayerType dropout_layer = {
    .name = "dropout",
    .summary = "Sets elements to zero at random in training; in inference it changes nothing.",
    .source = "Srivastava et al., Dropout (2014), section 4",
    .parameters = {{.name = "rate",
                    .type = Type::number,
                    .summary = "the share that is set to zero",
                    .default_text = "0.5",
                    .maximum = 1}},
    .infer = infer_same,
};

}  // namespace sluice
