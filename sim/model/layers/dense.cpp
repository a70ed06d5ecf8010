#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// The input is flattened: one weight for each pair of input element and feature.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const std::int64_t features = keys.integer("features");
  LayerCounts counts;
  counts.shape = {features};
  counts.macs = checked_mul(elements_of(*inputs[0]), features, "multiply-accumulates");
  counts.parameters = counts.macs;
  counts.flop = checked_mul(counts.macs, 2, "FLOP");
  if (keys.boolean("bias")) {
    counts.parameters = checked_add(counts.parameters, features, "parameters");
    counts.flop = checked_add(counts.flop, features, "FLOP");
  }
  return counts;
}

}  // namespace

extern const LayerType dense_layer;
const LayerType dense_layer = {
    .name = "dense",
    .summary = "A fully connected layer over the whole, flattened input.",
    .source = "Goodfellow, Bengio and Courville, Deep Learning, section 6.1",
    .parameters =
        {{.name = "features", .type = Type::integer, .summary = "output elements", .minimum = 1},
         {.name = "bias",
          .type = Type::boolean,
          .summary = "adds one parameter a feature",
          .default_text = "true"}},
    .infer = infer,
};

}  // namespace sluice
