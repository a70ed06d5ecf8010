#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

LayerCounts infer(const Reader&, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  counts.flop = elements_of(counts.shape);
  return counts;
}

}  // namespace

extern const LayerType relu_layer;
const LayerType relu_layer = {
    .name = "relu",
    .summary = "max(x, 0) of each element: 1 FLOP each.",
    .source = "Nair and Hinton, Rectified linear units improve restricted Boltzmann machines",
    .parameters = {},
    .infer = infer,
};

}  // namespace sluice
