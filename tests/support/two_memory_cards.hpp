// Scenarios on two cards with two memories each, for tests of placements under policies that use several devices.
#pragma once

#include <cstdint>
#include <string>

#include "document/load.hpp"
#include "scenario/scenario.hpp"
#include "support/two_products.hpp"

namespace sluice::test {

/// The second memories of the cards.
enum class Seconds { own, common };

/// Two products, as in two_memory_card.hpp, on two cards. The memories have the bandwidths of that file: the first memory
/// 100 byte/s and the second 10 byte/s. Each card has a link of its own to host memory, and another to its second memory.
/// All transfers from and to host memory, and those between the cards, have 10 byte/s.
inline Scenario on_cards(std::int64_t first, std::int64_t second, const std::string& more,
                         Seconds seconds = Seconds::own) {
  const bool own = seconds == Seconds::own;
  const std::string bytes = "{capacity: " + std::to_string(second) + "B, bandwidth: 10B/s}",
                    ddr = own ? "{name: ddr, " + bytes.substr(1) : "ddr";
  return read_scenario(
      parse_text(
          two_products_model + "platform:\n  format: sluice-platform/1\n  name: cards\n" +
              "  devices:\n    gpu:\n      count: 2\n      rate: {float32: 1000TFLOP/s}\n" +
              "      memory: [{capacity: " + std::to_string(first) + "B, bandwidth: 100B/s}, " +
              ddr + "]\n  memories: {host: {capacity: 1MB}" +
              (own ? "}\n" : ", ddr: " + bytes + "}\n  switches: [hub]\n") +
              "  links:\n    host: {joins: [host, gpu], bandwidth: 10B/s, sharing: private}\n"
              "    pair: {joins: [gpu0, gpu1], bandwidth: 10B/s}\n" +
              (own ? "    far: {joins: [gpu, gpu_ddr], bandwidth: 100B/s, sharing: private}\n"
                   : "    far: {joins: [hub, gpu], bandwidth: 100B/s, sharing: private}\n"
                     "    hub: {joins: [ddr, hub], bandwidth: 100B/s}\n") +
              "stages: {cut: per_layer}\ncost: roofline\n" + more,
          "cards.yaml"),
      "cards");
}

}  // namespace sluice::test
