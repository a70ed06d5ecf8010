// Replicas of `resident` in inference that do not have the same plan: their devices or their caches of keys and values
// differ. The runs of all of them are compared, with the choices for the whole memory and for less memory.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "support/campaign.hpp"
#include "support/rising_memory.hpp"
#include "support/two_memory_card.hpp"
#include "support/two_products.hpp"

namespace sluice {
namespace {

using test::check_rising;
using test::number;

// Before, each replica took the placement with which it is the fastest alone. So with 493 B of fast memory, the run took
// 245.6 us, and with 835 B 254.1 us. The devices are equal, but one replica computes two batches, and two compute one.
TEST_CASE("replicas with different caches are never slower with more fast memory", "[placement]") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [1, 12]}, {type: matmul, name: query, inputs: [x], features: 12}, {type: matmul, name: key, inputs: [x], features: 12}, {type: matmul, name: value, inputs: [x], features: 12}, {type: attention, name: attention, inputs: [query, key, value], heads: 2, cached: 36}, {type: matmul, name: out, features: 12}]}}
platform:
  format: sluice-platform/1
  name: cards
  devices: {gpu: {count: 4, rate: {float32: 3GFLOP/s}, memory: [{capacity: 1MB, bandwidth: 500MB/s}, {name: ddr, capacity: 60kB, bandwidth: 300MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 500MB/s, duplex: half}, fan: {joins: [hub, gpu], bandwidth: 100MB/s}, far: {joins: [gpu, gpu_ddr], bandwidth: 100MB/s}}
workload: {batch: 3, batches_per_step: 6, steps: 2}
cost: roofline
stages: per_layer
policy: {name: data_parallel, replica: resident, placement: first_touch}
)";
  CHECK(check_rising(text, {493, 835, 2006, 2654, 4531, 9308, 17'638}) >= 1);
}

// Before, with 1541 B of fast memory, the run took 483.0 us, and with 2647 B 503.2 us.
TEST_CASE("replicas on three different devices are never slower with more fast memory",
          "[placement]") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [35]}, {type: dense, name: l0, features: 22}, {type: dense, name: l1, features: 12}]}}
platform:
  format: sluice-platform/1
  name: cards
  devices: {a: {rate: {float32: 100MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 2GB/s}, {name: ddr, capacity: 4kB, bandwidth: 100MB/s}]}, b: {rate: {float32: 3GFLOP/s}, memory: [{capacity: 1MB, bandwidth: 100MB/s}, {name: ddr, capacity: 4kB, bandwidth: 20MB/s}]}, c: {rate: {float32: 300MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 200MB/s}, {name: ddr, capacity: 4kB, bandwidth: 20MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 500MB/s, latency: 5us}, fan_a: {joins: [hub, a], bandwidth: 100MB/s}, far_a: {joins: [a, a_ddr], bandwidth: 1GB/s}, fan_b: {joins: [hub, b], bandwidth: 100MB/s}, far_b: {joins: [b, b_ddr], bandwidth: 1GB/s}, fan_c: {joins: [hub, c], bandwidth: 200MB/s}, far_c: {joins: [c, c_ddr], bandwidth: 1GB/s}}
workload: {batch: 2, batches_per_step: 3, steps: 2}
cost: roofline
stages: whole
policy: {name: data_parallel, replica: resident, placement: first_touch, transfers: in_turn}
)";
  CHECK(check_rising(text, {300, 900, 1541, 2647, 5000}, {"a", "b", "c"}) >= 1);
}

/// Returns a random card with two memories.
std::string card(test::Dice& dice, const std::string& name) {
  return "    " + name + ":\n      rate: {float32: " + number(dice, 100, 2000) +
         "FLOP/s}\n      memory:\n      - {capacity: 1MB, bandwidth: " + number(dice, 100, 2000) +
         "B/s}\n      - {name: ddr, capacity: 12kB, bandwidth: " + number(dice, 10, 1000) +
         "B/s}\n";
}
/// Returns the links of a card.
std::string links(test::Dice& dice, const std::string& name) {
  return "    fan_" + name + ": {joins: [hub, " + name + "], bandwidth: " + number(dice, 20, 400) +
         "B/s}\n    far_" + name + ": {joins: [" + name + ", " + name +
         "_ddr], bandwidth: " + number(dice, 20, 500) + "B/s}\n";
}
/// Returns a random scenario of two cards that differ, `a` and `b`, without its workload and its policy.
std::string two_cards(test::Dice& dice) {
  std::string text = test::two_products_model +
                     "platform:\n  format: sluice-platform/1\n  name: cards\n  devices:\n";
  for (const char* name : {"a", "b"}) text += card(dice, name);
  text +=
      "  memories: {host: {capacity: 1MB}}\n  switches: [hub]\n  links:\n    host: {joins: "
      "[host, hub], bandwidth: " +
      number(dice, 20, 500) + "B/s}\n";
  for (const char* name : {"a", "b"}) text += links(dice, name);
  return text + "stages: per_layer\ncost: roofline\n";
}

TEST_CASE("no inference of resident replicas on different cards is slower with more fast memory",
          "[placement][property]") {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{5}); ++seed) {
    test::Dice dice(seed);
    std::string text = two_cards(dice);
    text += "workload: {batch: " + number(dice, 1, 3) +
            ", batches_per_step: " + number(dice, 2, 5) + ", steps: " + number(dice, 1, 2) + "}\n";
    text += std::string("policy: {name: data_parallel, replica: resident, placement: ") +
            (dice.one_in(2) ? "static" : "first_touch") + "}\n";
    faster += check_rising(text, {300, 600, 1000, 1500, 2500, 5000}, {"a", "b"});
  }
  CHECK(faster > 4);
}

}  // namespace
}  // namespace sluice
