// Replicas of `resident` in training: their choices do not depend on the size of the memory.
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

/// Returns the scenario of kept/searched_fates_of_replicas_in_more_memory.yaml, with this strategy for fates.
std::string two_replicas(const std::string& fates) {
  return R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [38]}, {type: dense, name: l0, features: 9}, {type: dense, name: l1, features: 7}, {type: dense, name: l2, features: 64}]}}
platform:
  format: sluice-platform/1
  name: cards
  devices: {gpu: {count: 2, rate: {float32: 1000MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 500MB/s}, {name: ddr, capacity: 1MB, bandwidth: 100MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 50MB/s}, fan: {joins: [hub, gpu], bandwidth: 100MB/s}, far: {joins: [gpu, gpu_ddr], bandwidth: 100MB/s}}
workload: {mode: training, batch: 4, micro_batch: 1, steps: 1, optimizer: sgd}
cost: roofline
stages: per_layer
fates: )" +
         fates + "\npolicy: {name: data_parallel, replica: resident, placement: static}\n";
}

// Before, the run took 267.8 us with 8424 B of fast memory, and 270.8 us with 9500 B.
TEST_CASE("resident replicas that keep all activations are never slower with more fast memory",
          "[placement]") {
  CHECK(check_rising(two_replicas("keep_all"), {6221, 8424, 9500, 12'000, 15'368}) >= 1);
}

TEST_CASE("replicas that search for fates are never slower with more fast memory", "[placement]") {
  REQUIRE(test::seconds_within(two_replicas("optimal"), 8424, {"gpu"}));
  check_rising(two_replicas("optimal"), {8424, 15'368});
}

/// Returns a random training of two or three equal replicas of `resident`. With `two`, the devices have two memories.
std::string random_training(test::Dice& dice, bool two) {
  const std::uint64_t count = 2 + dice.below(2);
  std::string text =
      test::two_products_model +
      "platform:\n  format: sluice-platform/1\n  name: cards\n  devices:\n    gpu:\n"
      "      count: " +
      std::to_string(count) + "\n      rate: {float32: " + number(dice, 100, 2000) +
      "FLOP/s}\n      memory:\n      - {capacity: 1MB, bandwidth: " + number(dice, 100, 2000) +
      "B/s}\n";
  if (two)
    text += "      - {name: ddr, capacity: 12kB, bandwidth: " + number(dice, 10, 1000) + "B/s}\n";
  text +=
      "  memories: {host: {capacity: 1MB}}\n  switches: [hub]\n  links:\n"
      "    host: {joins: [host, hub], bandwidth: " +
      number(dice, 20, 500) +
      "B/s}\n    fan: {joins: [hub, gpu], bandwidth: " + number(dice, 20, 400) + "B/s}\n";
  if (two)
    text += "    far: {joins: [gpu, gpu_ddr], bandwidth: " + number(dice, 20, 500) + "B/s}\n";
  text += "stages: per_layer\ncost: roofline\nworkload: {mode: training, batch: " +
          std::to_string(count * (1 + dice.below(3))) +
          ", micro_batch: 1, steps: " + number(dice, 1, 2) + ", optimizer: sgd}\n";
  return text + "fates: " + (dice.one_in(2) ? "keep_all" : "offload_all") +
         "\npolicy: {name: data_parallel, replica: resident" + (two ? ", placement: static" : "") +
         "}\n";
}

TEST_CASE("no training of resident replicas is slower with more memory", "[placement][property]") {
  int fit = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{6}); ++seed) {
    test::Dice dice(seed);
    const std::string text = random_training(dice, seed % 2 == 1);
    check_rising(text, {1500, 3000, 4000, 5000, 6000, 8000, 12'000});
    fit += test::seconds_within(text, 5000, {"gpu"}) ? 1 : 0;
  }
  CHECK(fit > 3);
}

}  // namespace
}  // namespace sluice
