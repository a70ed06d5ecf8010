// Small models of random operators. The tensors of different operators have different sizes, and the network may branch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/random_chain.hpp"

namespace sluice::test {

struct Drawn {
  int elements, flop;  ///< FLOP per element
  std::vector<int> inputs;
  std::string keeps;
  int kept_bytes = 0;
  int parameters = 1;
};

/// Returns the key `model` of a scenario, as YAML. Layer 0 is the image, and layer l is the layer l - 1 of `layers`. A
/// parameter and its gradient have 4 bytes each.
std::string model_text(int image, const std::vector<Drawn>& layers);

/// Returns random layers. Three quarters of the layers read the layer before them. The other layers read a random
/// earlier layer. Some layers read a second layer, too. For each element, a copy takes 4 ns, and a computation takes 1
/// to 24 ns.
std::vector<Drawn> random_layers(Dice& dice, std::size_t count);

}  // namespace sluice::test
