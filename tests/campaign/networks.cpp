// Draws random networks: chains of dense layers, chains of convolutions, chains of blocks with shortcuts, and
// transformers.
#include "campaign/generator.hpp"

namespace sluice::test {
namespace {

std::string layer(const std::string& type, int number, const std::string& rest = {}) {
  return ", {type: " + type + ", name: l" + std::to_string(number) + rest + "}";
}

/// Returns `layers` with measured seconds in each layer after the input. Each of these layers begins with ", {".
std::string with_seconds(Draws& draws, const std::string& layers) {
  std::string text;
  for (std::size_t at = 0; at < layers.size(); ++at) {
    text += layers[at];
    if (at < 2 || layers.compare(at - 2, 3, ", {") != 0) continue;
    text += "forward: " + draws.one_of({"3us", "100us", "2ms"}) +
            ", backward: " + draws.one_of({"5us", "170us", "1ms"}) + ", ";
  }
  return text;
}

std::string rows(Draws& draws) {
  std::string text =
      "{type: input, name: x, shape: [" + std::to_string(draws.number(1, 700)) + "]}";
  const int layers = draws.number(2, 9);
  for (int l = 0; l < layers; ++l) {
    if (draws.one_in(3))
      text += layer(draws.one_of({"relu", "gelu", "softmax", "dropout"}), l);
    else
      text += layer("dense", l,
                    ", features: " + std::to_string(draws.number(1, 900)) +
                        (draws.one_in(4) ? ", bias: false" : ""));
  }
  return text;
}

std::string images(Draws& draws) {
  std::string text = "{type: input, name: x, shape: [" + std::to_string(draws.number(8, 40)) +
                     ", " + std::to_string(draws.number(8, 40)) + ", " +
                     std::to_string(draws.number(1, 16)) + "]}";
  const int layers = draws.number(2, 9);
  int halvings = 0;
  for (int l = 0; l < layers; ++l) {
    int kind = draws.number(0, 3);
    if (kind == 3 && ++halvings > 3) kind = 0;
    if (kind == 0) text += layer("relu", l);
    if (kind == 1) text += layer("batch_norm", l);
    if (kind == 2)
      text += layer("conv2d", l,
                    ", channels: " + std::to_string(draws.number(2, 40)) + ", kernel: " +
                        std::to_string(1 + 2 * draws.number(0, 2)) + ", padding: same");
    if (kind == 3) text += layer("max_pool", l, ", kernel: 2");
  }
  return text;
}

/// Returns a network of blocks of dense layers. Each block has a shortcut around it.
std::string residual(Draws& draws) {
  const std::string width = std::to_string(draws.number(4, 400));
  std::string text = "{type: input, name: x, shape: [" + width + "]}";
  std::string before = "x";
  const int blocks = draws.number(1, 4);
  int number = 0;
  for (int b = 0; b < blocks; ++b) {
    text += layer("dense", number++, ", features: " + std::to_string(draws.number(4, 600)));
    if (draws.one_in(2)) text += layer("relu", number++);
    text += layer("dense", number++, ", features: " + width);
    const std::string last = "l" + std::to_string(number - 1);
    text += layer("add", number, ", inputs: [" + before + ", " + last + "]");
    before = "l" + std::to_string(number++);
  }
  return text;
}

std::string transformer(Draws& draws) {
  const int heads = 1 << draws.number(0, 2), width = heads * draws.number(4, 24);
  const std::string wide = std::to_string(width);
  std::string text =
      "{type: input, name: x, shape: [" + std::to_string(draws.number(2, 40)) + ", " + wide + "]}";
  std::string before = "x";
  const int blocks = draws.number(1, 3);
  int number = 0;
  const auto shortcut = [&] {
    text += layer("add", number, ", inputs: [" + before + ", l" + std::to_string(number - 1) + "]");
    before = "l" + std::to_string(number++);
  };
  for (int b = 0; b < blocks; ++b) {
    text += layer("layer_norm", number++);
    const std::string normed = "l" + std::to_string(number - 1);
    for (int part = 0; part < 3; ++part)
      text += layer("matmul", number++, ", features: " + wide + ", inputs: [" + normed + "]");
    text +=
        layer("attention", number,
              ", heads: " + std::to_string(heads) + ", inputs: [l" + std::to_string(number - 3) +
                  ", l" + std::to_string(number - 2) + ", l" + std::to_string(number - 1) + "]");
    ++number;
    shortcut();
    text += layer("matmul", number++, ", features: " + std::to_string(2 * width));
    text += layer("gelu", number++);
    text += layer("matmul", number++, ", features: " + wide);
    shortcut();
  }
  return text;
}

std::string plain_network(Draws& draws) {
  switch (draws.below(6)) {
    case 3:
      return images(draws);
    case 4:
      return residual(draws);
    case 5:
      return transformer(draws);
    default:
      return rows(draws);
  }
}

}  // namespace

std::string random_network(Draws& draws, bool is_measured) {
  const std::string layers = plain_network(draws);
  return is_measured ? with_seconds(draws, layers) : layers;
}

}  // namespace sluice::test
