#include "model/partial.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Divides `count` into `parts` whole numbers that differ by at most 1, and returns one of them. `part` is the number
/// of the returned part, counted from 0.
std::int64_t share(std::int64_t count, std::int64_t part, std::int64_t parts) {
  return count / parts + (part < count % parts ? 1 : 0);
}

Layer part_of(const Layer& layer, std::int64_t part, std::int64_t parts) {
  Layer made = layer;
  made.name +=
      parts <= 26 ? std::string(1, static_cast<char>('a' + part)) : "." + std::to_string(part + 1);
  for (std::int64_t* count : {&made.output, &made.parameters, &made.shared, &made.macs, &made.flop,
                              &made.cached, &made.backward.input_flop, &made.backward.weight_flop,
                              &made.backward.kept, &made.backward.kept_bytes})
    *count = share(*count, part, parts);
  if (!made.config.empty())
    made.config += " part=" + std::to_string(part + 1) + "/" + std::to_string(parts);
  if (made.weights_read)
    made.weights_read->elements = share(made.weights_read->elements, part, parts);
  // The parts divide the last axis of the output, if its extent is a multiple of `parts`. Otherwise a part has a single
  // axis with all its elements.
  if (!made.shape.empty() && made.shape.back() % parts == 0)
    made.shape.back() /= parts;
  else
    made.shape = {made.output};
  for (auto* seconds : {&made.forward_s, &made.backward_s})
    if (*seconds) **seconds /= static_cast<double>(parts);
  return made;
}

}  // namespace

// A part without elements of the output would compute nothing, and a cost model may have no price for it.
std::vector<std::int64_t> split_alike(const Model& model, std::vector<std::int64_t> parts) {
  const auto most = [&](std::size_t l) {
    return std::max<std::int64_t>(1, model.layers[l].output);
  };
  for (std::size_t l = 0; l < model.layers.size(); ++l) parts[l] = std::min(parts[l], most(l));
  const auto for_tied = [&](const auto& use) {
    for (std::size_t l = 0; l < model.layers.size(); ++l)
      if (const auto tied = model.layers[l].tied) use(l, *tied);
  };
  for_tied([&](std::size_t l, std::size_t of) { parts[of] = std::max(parts[of], parts[l]); });
  for_tied([&](std::size_t l, std::size_t of) {
    parts[of] = std::min({parts[of], most(of), most(l)});
  });
  for_tied([&](std::size_t l, std::size_t of) { parts[l] = parts[of]; });
  return parts;
}

Model split_layers(const Model& model, const std::vector<std::int64_t>& asked) {
  const std::vector<std::int64_t> parts = split_alike(model, asked);
  Model split = model;
  split.layers.clear();
  std::vector<std::vector<std::uint32_t>> numbers(model.layers.size());
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    std::vector<std::uint32_t> inputs;
    for (const std::uint32_t input : model.layers[l].inputs)
      inputs.insert(inputs.end(), numbers[input].begin(), numbers[input].end());
    std::shared_ptr<Layer> whole;
    if (parts[l] > 1) {
      whole = std::make_shared<Layer>(model.layers[l]);
      whole->inputs = inputs;
    }
    for (std::int64_t part = 0; part < parts[l]; ++part) {
      numbers[l].push_back(static_cast<std::uint32_t>(split.layers.size()));
      split.layers.push_back(parts[l] == 1 ? model.layers[l]
                                           : part_of(model.layers[l], part, parts[l]));
      split.layers.back().inputs = inputs;
      split.layers.back().whole = whole;
      if (const auto tied = model.layers[l].tied)
        split.layers.back().tied = numbers[*tied][static_cast<std::size_t>(part)];
    }
  }
  return split;
}

}  // namespace sluice
