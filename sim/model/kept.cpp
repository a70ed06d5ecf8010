#include "model/kept.hpp"

#include <algorithm>

#include "base/quantity.hpp"
#include "model/catalog.hpp"

namespace sluice {
namespace {

void add(KeptCount& count, const Backward& backward) {
  count.elements = checked_add(count.elements, backward.kept, "kept elements");
  count.bytes = checked_add(count.bytes, backward.kept_bytes, "kept bytes");
}

void sort_once(std::vector<std::uint32_t>& tensors) {
  std::sort(tensors.begin(), tensors.end());
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
}

}  // namespace

std::uint32_t origin_of(const Model& model, std::uint32_t layer) {
  while (!model.layers.at(layer).inputs.empty() && is_view(model.layers[layer]))
    layer = model.layers[layer].inputs.front();
  return layer;
}

Kept kept_for(const Model& model, std::uint32_t first, std::uint32_t last) {
  Kept kept;
  const auto read = [&](std::uint32_t tensor) {
    const std::uint32_t origin = origin_of(model, tensor);
    (origin >= first && origin <= last ? kept.inside : kept.outside).push_back(origin);
  };
  for (std::uint32_t l = first; l <= last; ++l) {
    const Layer& layer = model.layers.at(l);
    if (layer.backward.reads_inputs)
      for (const std::uint32_t input : layer.inputs) read(input);
    if (layer.backward.reads_output) read(l);
    add(layer.backward.selective ? kept.selective : kept.own, layer.backward);
  }
  sort_once(kept.outside);
  sort_once(kept.inside);
  return kept;
}

KeptCount Kept::in_all(const Model& model) const {
  KeptCount count = {checked_add(own.elements, selective.elements, "kept elements"),
                     checked_add(own.bytes, selective.bytes, "kept bytes")};
  for (const auto* tensors : {&outside, &inside})
    for (const std::uint32_t tensor : *tensors)
      count.elements = checked_add(count.elements, model.layers.at(tensor).output, "kept elements");
  return count;
}

std::int64_t bytes_of(const KeptCount& count, DType dtype) {
  return checked_add(checked_mul(count.elements, bytes_of(dtype), "kept bytes"), count.bytes,
                     "kept bytes");
}

std::int64_t backward_flop(const Layer& layer) {
  return checked_add(layer.backward.input_flop, layer.backward.weight_flop,
                     "FLOP of the backward pass");
}

std::int64_t backward_flop(const Model& model) {
  std::int64_t flop = 0;
  for (const Layer& layer : model.layers)
    flop = checked_add(flop, backward_flop(layer), "FLOP of the backward pass");
  return flop;
}

}  // namespace sluice
