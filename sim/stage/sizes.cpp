#include "stage/sizes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/quantity.hpp"
#include "model/catalog.hpp"

namespace sluice {
namespace {

/// Returns for each layer the last layer that reads its output. If no layer reads the output, the element is the number
/// of layers.
std::vector<std::uint32_t> last_readers(const Model& model) {
  const auto count = static_cast<std::uint32_t>(model.layers.size());
  std::vector<std::uint32_t> last(count, count);
  for (std::uint32_t layer = 0; layer < count; ++layer)
    for (const std::uint32_t input : model.layers[layer].inputs) last.at(input) = layer;
  return last;
}

}  // namespace

Sizes::Sizes(const Model& model, DType dtype)
    : model_(model),
      size_(bytes_of(dtype)),
      last_readers_(last_readers(model)),
      weights_{0},
      cached_{0},
      dies_at_(model.layers.size()) {
  const std::int64_t size = size_;
  const std::vector<std::uint32_t>& last = last_readers_;
  for (const Layer& layer : model.layers) {
    bytes_.push_back(checked_mul(layer.output, size, "bytes of layer " + layer.name));
    const std::int64_t own = checked_mul(layer.parameters, size, "weights of layer " + layer.name);
    weights_.push_back(checked_add(weights_.back(), own, "bytes of all weights"));
    const std::int64_t cached = checked_mul(layer.cached, size, "cache of layer " + layer.name);
    cached_.push_back(checked_add(cached_.back(), cached, "bytes of all caches"));
    if (layer.inputs.empty()) inputs_ = checked_add(inputs_, bytes_.back(), "bytes of the inputs");
  }
  // For each group of tied weights: the last layer so far that has these weights.
  std::map<std::uint32_t, std::uint32_t> holders;
  for (std::uint32_t layer = 0; layer < layers(); ++layer)
    if (const auto tied = model.layers[layer].tied) {
      std::uint32_t& holder = holders.try_emplace(*tied, *tied).first->second;
      const std::int64_t held = checked_mul(model.layers[layer].shared, size, "tied weights");
      shared_.push_back({layer, std::exchange(holder, layer), held});
    }
  std::int64_t live = inputs_;
  for (std::uint32_t layer = 0; layer < layers(); ++layer) {
    if (!model.layers[layer].inputs.empty())
      live = checked_add(live, bytes_[layer], "bytes of live activations");
    if (last[layer] < layers()) dies_at_[last[layer]].push_back(layer);
    for (const std::uint32_t dead : dies_at_[layer]) live -= bytes_[dead];
    live_after_.push_back(live);
  }
  // An inner tensor is always made by a layer that computes. So inputs are removed from the lists of `dies_at_`.
  for (auto& dead : dies_at_)
    dead.erase(std::remove_if(dead.begin(), dead.end(),
                              [&](std::uint32_t l) { return model.layers[l].inputs.empty(); }),
               dead.end());
}

std::int64_t Sizes::weights(std::uint32_t first, std::uint32_t last) const {
  return checked_add(weights_[last + 1] - weights_[first], tied(first, last), "bytes of a stage");
}

std::int64_t Sizes::tied(std::uint32_t first, std::uint32_t last) const {
  std::int64_t bytes = 0;
  auto shared = std::lower_bound(shared_.begin(), shared_.end(), first,
                                 [](const Shared& s, std::uint32_t l) { return s.layer < l; });
  for (; shared != shared_.end() && shared->layer <= last; ++shared)
    if (shared->before < first) bytes = checked_add(bytes, shared->bytes, "bytes of a stage");
  return bytes;
}

std::int64_t Sizes::input(std::uint32_t first) const {
  return first == 0 ? inputs_ : live_after_[first - 1];
}

std::int64_t Sizes::answers(std::uint32_t first, std::uint32_t last) const {
  // This sum needs no check for overflow: it is at most the bytes that cross the cut after `last`, and these were
  // checked.
  std::int64_t bytes = 0;
  for (std::uint32_t layer = first; layer <= last; ++layer)
    if (last_readers_[layer] == layers() && !model_.layers[layer].inputs.empty())
      bytes += bytes_[layer];
  return bytes;
}

std::vector<Crossing> Sizes::crosses(std::uint32_t last) const {
  std::vector<Crossing> tensors;
  for (std::uint32_t layer = 0; layer < layers(); ++layer) {
    const bool is_there = layer <= last || model_.layers[layer].inputs.empty();
    if (is_there && last_readers_[layer] > last) tensors.push_back({layer, bytes_[layer]});
  }
  return tensors;
}

// If a backward pass reads a view, the stage keeps the viewed tensor, and not the view. It keeps this tensor only if a
// layer of the stage makes it.
std::vector<char> Sizes::read_backward(std::uint32_t first, std::uint32_t last,
                                       bool& reads_input) const {
  std::vector<char> read(last - first + 1, 0);
  for (std::uint32_t l = first; l <= last; ++l) {
    const Layer& layer = model_.layers[l];
    if (layer.backward.reads_output) read[l - first] = 1;
    if (!layer.backward.reads_inputs) continue;
    for (std::uint32_t input : layer.inputs) {
      while (input >= first && is_view(model_.layers[input]))
        input = model_.layers[input].inputs.front();
      if (input < first || model_.layers[input].inputs.empty()) reads_input = true;
      if (input >= first) read[input - first] = 1;
    }
  }
  return read;
}

// A tensor that crosses out of this stage is kept as a part of the stage's output, and does not count here. Each tensor
// that a backward pass of a later stage reads is such a tensor.
Stage::Kept Sizes::kept(std::uint32_t first, std::uint32_t last) const {
  Stage::Kept kept;
  const auto bytes = [](std::int64_t a, std::int64_t b) {
    return checked_add(a, b, "bytes kept for the backward pass");
  };
  const std::vector<char> read = read_backward(first, last, kept.reads_input);
  // made[i] is the bytes of the tensors that layer i makes. gone[i] is the bytes of the tensors that are freed after
  // layer i, because layer i was their last reader. Kept tensors count in neither list.
  std::vector<std::int64_t> made(last - first + 1, 0), gone(last - first + 1, 0);
  for (std::uint32_t l = first; l <= last; ++l) {
    const Layer& layer = model_.layers[l];
    const std::int64_t own =
        bytes(checked_mul(layer.backward.kept, size_, "bytes kept"), layer.backward.kept_bytes);
    kept.inner_bytes = bytes(kept.inner_bytes, own);
    if (layer.backward.selective) kept.selective_bytes = bytes(kept.selective_bytes, own);
    const bool crosses = last_readers_[l] > last;
    if (layer.backward.reads_output && crosses) kept.reads_output = true;
    if (crosses || layer.inputs.empty()) continue;
    if (read[l - first]) {
      kept.inner_bytes = bytes(kept.inner_bytes, bytes_[l]);
    } else {
      std::int64_t& goes = gone[last_readers_[l] - first];
      made[l - first] = bytes_[l];
      goes = bytes(goes, bytes_[l]);
    }
  }
  std::int64_t held = 0;
  for (std::size_t l = 0; l < made.size(); ++l) {
    held = bytes(held, made[l]);
    kept.workspace_bytes = std::max(kept.workspace_bytes, held);
    held -= gone[l];
  }
  return kept;
}

std::int64_t Sizes::Workspace::extend() {
  const auto layer = first_ + static_cast<std::uint32_t>(held_.size());
  held_.push_back(0);
  // If this layer is the last reader of a tensor, the tensor is now an inner tensor of the stage. The device holds it
  // from the layer that makes it to this layer. The tensor stays an inner tensor if the stage gets longer. So
  // `most_`, the most bytes that are held while one layer runs, never gets smaller.
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
