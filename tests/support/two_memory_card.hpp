// Scenarios on a card with two memories of its own, for tests of placements.
#pragma once

#include <cstdint>
#include <string>

#include "document/load.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"
#include "support/two_products.hpp"

namespace sluice::test {

/// Two products on a card whose second memory has a tenth of the bandwidth of the first memory. The input has 40 bytes,
/// the weights have 800 and 400 bytes, the tensor between the products has 80 bytes, and the output has 20 bytes. The
/// FLOP take no time. All transfers from and to host memory have 10 byte/s.
inline Scenario on_card(std::int64_t first, std::int64_t second, const std::string& more,
                        const std::string& cost = "roofline") {
  return read_scenario(parse_text(two_products_model + R"(platform:
  format: sluice-platform/1
  name: card
  devices:
    gpu:
      rate: {float32: 1000TFLOP/s}
      memory:
      - {capacity: )" + std::to_string(first) +
                                      R"(B, bandwidth: 100B/s}
      - {name: ddr, capacity: )" + std::to_string(second) +
                                      R"(B, bandwidth: 10B/s}
  memories: {host: {capacity: 1MB}}
  links:
    host: {joins: [host, gpu], bandwidth: 10B/s}
    far: {joins: [gpu, gpu_ddr], bandwidth: 100B/s}
stages: {cut: per_layer}
cost: )" + cost + "\n" + more,
                                  "card.yaml"),
                       "card");
}

inline std::string number(Dice& dice, std::uint64_t least, std::uint64_t most) {
  return std::to_string(least + dice.below(most - least + 1));
}

/// A link with random times. The two directions may share its bandwidth.
inline std::string link_text(Dice& dice, const std::string& name, const std::string& joins) {
  return "    " + name + ": {joins: " + joins + ", bandwidth: " + number(dice, 5, 200) +
         "B/s, latency: " + number(dice, 0, 3) + "s, setup: " + number(dice, 0, 2) + "s" +
         (dice.one_in(4) ? ", duplex: half" : "") + "}\n";
}

/// Layers of random widths, on a card with two memories. The link of the second memory leads to the first memory, or to
/// host memory.
inline std::string random_card(Dice& dice) {
  std::string layers;
  for (std::uint64_t l = 0, count = 1 + dice.below(3); l < count; ++l)
    layers += "    - {type: dense, name: d" + std::to_string(l) +
              ", features: " + number(dice, 1, 20) + "}\n";
  return "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
         "    name: dense\n    layers:\n    - {type: input, name: x, shape: [" +
         number(dice, 1, 20) + "]}\n" + layers +
         "platform:\n  format: sluice-platform/1\n  name: card\n  devices:\n    gpu:\n"
         "      rate: {float32: " +
         number(dice, 20, 2000) +
         "FLOP/s}\n      memory:\n"
         "      - {capacity: " +
         number(dice, 100, 4000) +
         "B, bandwidth: 300B/s}\n      - {name: ddr, capacity: " + number(dice, 100, 6000) +
         "B, read: " + number(dice, 20, 400) + "B/s, write: " + number(dice, 20, 400) +
         "B/s}\n  memories: {host: {capacity: 1MB}}\n  links:\n" +
         link_text(dice, "host", "[host, gpu]") +
         link_text(dice, "far", dice.one_in(2) ? "[gpu, gpu_ddr]" : "[host, gpu_ddr]") +
         "cost: {model: roofline, pools: " + (dice.one_in(2) ? "side_by_side" : "in_turn") + "}\n";
}

}  // namespace sluice::test
