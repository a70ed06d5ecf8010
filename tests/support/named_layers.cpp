#include "support/named_layers.hpp"

#include <algorithm>

#include "document/load.hpp"

namespace sluice::test {

Scenario scenario_of(const std::vector<NamedLayer>& layers, int image, const std::string& extra,
                     const std::vector<std::string>& overrides) {
  std::string text =
      "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
      "    name: drawn\n    summary: made up\n    source: made up\n    layers:\n"
      "      - {type: input, name: image, shape: [" +
      std::to_string(image) + "]}\n";
  for (const NamedLayer& layer : layers) {
    text += "      - {type: operator, name: " + layer.name + ", shape: [" +
            std::to_string(layer.elements) + "], flop: " + std::to_string(layer.flop) +
            ", inputs: [";
    for (std::size_t i = 0; i < layer.inputs.size(); ++i)
      text += (i > 0 ? ", " : "") + layer.inputs[i];
    text += "]}\n";
  }
  text +=
      "platform:\n  format: sluice-platform/1\n  name: pair\n  summary: two devices\n"
      "  source: made up\n"
      "  devices: {gpu: {count: 2, rate: {float32: 1GFLOP/s}, memory: {capacity: 1GB}}}\n"
      "  memories: {host: {capacity: unlimited}}\n"
      "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}, pair: {joins: [gpu0, gpu1], "
      "bandwidth: 1GB/s}}\n" +
      extra;
  Value document = parse_text(text, "drawn.yaml");
  apply_overrides(document, overrides);
  return read_scenario(std::move(document), "drawn");
}

std::vector<NamedLayer> random_named_layers(Dice& dice) {
  std::vector<NamedLayer> layers;
  std::vector<std::string> names = {"image"};
  const std::size_t count = 2 + dice.below(9);
  for (std::size_t l = 0; l < count; ++l) {
    NamedLayer layer{"l" + std::to_string(l),
                1 + static_cast<int>(dice.below(500)),
                static_cast<int>(dice.below(50)),
                {names.back()}};
    for (std::uint64_t more = dice.below(3); more > 0; --more) {
      const std::string& input = names[dice.below(names.size())];
      if (std::find(layer.inputs.begin(), layer.inputs.end(), input) == layer.inputs.end())
        layer.inputs.push_back(input);
    }
    names.push_back(layer.name);
    layers.push_back(std::move(layer));
    // The layer whose name is removed here is not read by any later layer.
    if (dice.one_in(5)) names.pop_back();
    if (names.empty()) names.push_back("image");
  }
  return layers;
}

std::string random_cut_of(Dice& dice, const std::vector<NamedLayer>& layers) {
  std::string after;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    if (dice.one_in(2)) after += (after.empty() ? "" : ", ") + layers[l].name;
  return after.empty() ? "stages: {cut: whole}\n"
                       : "stages: {cut: explicit, after: [" + after + "]}\n";
}

}  // namespace sluice::test
