#include "support/drawn_layers.hpp"

#include <utility>

namespace sluice::test {

std::string model_text(int image, const std::vector<Drawn>& layers) {
  std::string text =
      "model:\n  definition:\n    format: sluice-model/1\n    name: drawn\n    layers:\n"
      "      - {type: input, name: l0, shape: [" +
      std::to_string(image) + "]}\n";
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Drawn& layer = layers[l];
    text += "      - {type: operator, name: l" + std::to_string(l + 1) + ", shape: [" +
            std::to_string(layer.elements) + "], flop: " + std::to_string(layer.flop) +
            ", parameters: " + std::to_string(layer.parameters) + ", keeps: " + layer.keeps +
            ", kept_bytes: " + std::to_string(layer.kept_bytes) + ", inputs: [";
    for (std::size_t i = 0; i < layer.inputs.size(); ++i)
      text += (i > 0 ? ", l" : "l") + std::to_string(layer.inputs[i]);
    text += "]}\n";
  }
  return text;
}

std::vector<Drawn> random_layers(Dice& dice, std::size_t count) {
  std::vector<Drawn> layers;
  for (std::size_t l = 0; l < count; ++l) {
    const auto any = [&] { return static_cast<int>(dice.below(l + 1)); };
    Drawn layer{1 + static_cast<int>(dice.below(100)),
                1 + static_cast<int>(dice.below(24)),
                {dice.one_in(4) ? any() : static_cast<int>(l)},
                "inputs"};
    if (const int more = any(); dice.one_in(2) && more != layer.inputs.front())
      layer.inputs.push_back(more);
    const std::uint64_t keeps = dice.below(4);
    if (keeps == 0) layer.keeps = "nothing";
    if (keeps == 1) layer.keeps = "output";
    if (dice.one_in(3)) layer.kept_bytes = 1 + static_cast<int>(dice.below(400));
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace sluice::test
