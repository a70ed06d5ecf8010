#include "model/catalog.hpp"

namespace sluice {
namespace {

LayerCounts infer(const Reader& keys, const std::vector<const Shape*>&) {
  const Value& extents = *keys.value("shape");
  LayerCounts counts;
  for (const Value& extent : extents.items()) {
    if (extent.kind() != Value::Kind::integer || extent.as_integer() < 1)
      fail_at(extent, "'" + extent.text() + "' in 'shape': expected an integer of at least 1");
    counts.shape.push_back(extent.as_integer());
  }
  if (counts.shape.empty()) keys.fail("shape", "'shape' is empty, expected one extent or more");
  return counts;
}

}  // namespace

extern const LayerType input_layer;
const LayerType input_layer = {
    .name = "input",
    .summary = "What the network is given: one sample.",
    .source = "definition",
    .parameters = {{.name = "shape",
                    .type = Type::list,
                    .summary = "extents of one sample; an image is [height, width, channels]"}},
    .min_inputs = 0,
    .max_inputs = 0,
    .infer = infer,
};

}  // namespace sluice
