// Small models that a test draws: layers with names, sizes and inputs, on a machine with two devices.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"

namespace sluice::test {

/// A layer.
struct NamedLayer {
  std::string name;
  int elements;
  int flop;  ///< per element
  std::vector<std::string> inputs;
};

/// Returns a scenario with these layers, whose input has `image` elements of four bytes. Devices compute 1 GFLOP/s, and
/// links have 1 GB/s. `extra` is added to the scenario's text.
Scenario scenario_of(const std::vector<NamedLayer>& layers, int image, const std::string& extra,
                     const std::vector<std::string>& overrides = {});

/// Returns random layers. Each layer reads at most three earlier layers. Some outputs are not read by any layer.
std::vector<NamedLayer> random_named_layers(Dice& dice);

/// Returns the key `stages` with cuts after random layers.
std::string random_cut_of(Dice& dice, const std::vector<NamedLayer>& layers);

}  // namespace sluice::test
