#include "stage/sizes.hpp"

#include <algorithm>

#include "base/quantity.hpp"

namespace sluice {
namespace {

/// The last layer that reads each layer's output; the number of layers where none does.
std::vector<std::uint32_t> last_readers(const Model& model) {
  const auto count = static_cast<std::uint32_t>(model.layers.size());
  std::vector<std::uint32_t> last(count, count);
  for (std::uint32_t layer = 0; layer < count; ++layer)
    for (const std::uint32_t input : model.layers[layer].inputs) last.at(input) = layer;
  return last;
}

}  // namespace

Sizes::Sizes(const Model& model, DType dtype) : weights_{0}, dies_at_(model.layers.size()) {
  const std::int64_t size = bytes_of(dtype);
  const std::vector<std::uint32_t> last = last_readers(model);
  for (const Layer& layer : model.layers) {
    bytes_.push_back(checked_mul(layer.output, size, "bytes of layer " + layer.name));
    const std::int64_t own = checked_mul(layer.parameters, size, "weights of layer " + layer.name);
    weights_.push_back(checked_add(weights_.back(), own, "bytes of all weights"));
    if (layer.inputs.empty()) inputs_ = checked_add(inputs_, bytes_.back(), "bytes of the inputs");
  }
  std::int64_t live = inputs_;
  for (std::uint32_t layer = 0; layer < layers(); ++layer) {
    if (!model.layers[layer].inputs.empty())
      live = checked_add(live, bytes_[layer], "bytes of live activations");
    if (last[layer] < layers()) dies_at_[last[layer]].push_back(layer);
    for (const std::uint32_t dead : dies_at_[layer]) live -= bytes_[dead];
    live_after_.push_back(live);
  }
  // An input is no inner tensor of any stage: only layers that compute make those.
  for (auto& dead : dies_at_)
    dead.erase(std::remove_if(dead.begin(), dead.end(),
                              [&](std::uint32_t l) { return model.layers[l].inputs.empty(); }),
               dead.end());
}

std::int64_t Sizes::weights(std::uint32_t first, std::uint32_t last) const {
  return weights_[last + 1] - weights_[first];
}

std::int64_t Sizes::input(std::uint32_t first) const {
  return first == 0 ? inputs_ : live_after_[first - 1];
}

std::int64_t Sizes::Workspace::extend() {
  const auto layer = first_ + static_cast<std::uint32_t>(held_.size());
  held_.push_back(0);
  // What is read here for the last time has become an inner tensor: it was held from the layer that
  // made it to this one. Nothing inner ever stops being so, therefore the maximum only grows.
  for (const std::uint32_t made : sizes_.dies_at_[layer]) {
    if (made < first_) continue;
    for (std::uint32_t l = made; l <= layer; ++l) {
      std::int64_t& held = held_[l - first_];
      held = checked_add(held, sizes_.bytes_[made], "bytes of a workspace");
      most_ = std::max(most_, held);
    }
  }
  return most_;
}

}  // namespace sluice
