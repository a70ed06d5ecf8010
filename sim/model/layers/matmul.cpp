#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

// [rows, D] x [D, features]: each row meets all weights.
LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& input = *inputs[0];
  if (input.size() != 2)
    keys.fail("type", "matmul needs an input of [rows, columns], got " + text_of(input));
  const std::int64_t features = keys.integer("features");
  LayerCounts counts;
  counts.shape = {input[0], features};
  counts.parameters = checked_mul(input[1], features, "parameters");
  counts.macs = checked_mul(input[0], counts.parameters, "multiply-accumulates");
  counts.flop = checked_mul(counts.macs, 2, "FLOP");
  return counts;
}

}  // namespace

extern const LayerType matmul_layer;
const LayerType matmul_layer = {
    .name = "matmul",
    .summary = "A matrix [rows, columns] times a weight matrix [columns, features], without bias.",
    .source = "seed 004, the phased execution example",
    .parameters = {{.name = "features",
                    .type = Type::integer,
                    .summary = "columns of the weight matrix",
                    .minimum = 1}},
    .infer = infer,
};

}  // namespace sluice
