// More than eight replicas: as long as their steps are short, their choices are compared by runs of all of them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "support/campaign.hpp"
#include "support/rising_memory.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using test::check_rising;
using test::number;

// Before, the run of a single replica decided. So with 24,945 B of memory, the run took 11.03 ms, and with 41,613 B
// 11.07 ms.
TEST_CASE("nine replicas on different devices are never slower with more memory") {
  struct Card {
    std::string mega_flop_s, bandwidth;  ///< the bandwidth of the link in MB/s
  };
  const std::vector<Card> cards = {{"300", "100"},   {"300", "1000"}, {"1000", "100"},
                                   {"3000", "100"},  {"100", "1000"}, {"3000", "200"},
                                   {"3000", "1000"}, {"100", "200"},  {"1000", "200"}};
  std::string devices,
      links = "host: {joins: [host, hub], bandwidth: 50MB/s, setup: 5us, duplex: half}";
  std::vector<std::string> names;
  for (std::size_t k = 0; k < cards.size(); ++k) {
    const std::string& name = names.emplace_back("g" + std::to_string(k));
    devices += (k > 0 ? ", " : "") + name + ": {rate: {float32: " + cards[k].mega_flop_s +
               "MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 500MB/s}]}";
    links += ", fan" + std::to_string(k) + ": {joins: [hub, " + name +
             "], bandwidth: " + cards[k].bandwidth + "MB/s}";
  }
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [34]}, {type: dense, name: l0, features: 37}, {type: dense, name: l1, features: 45}, {type: dense, name: l2, features: 49}]}}
platform:
  format: sluice-platform/1
  name: cards
  devices: {)" + devices + R"(}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {)" + links + R"(}
workload: {mode: training, batch: 18, micro_batch: 1, steps: 1, optimizer: none}
fates: offload_all
cost: peak
stages: per_layer
policy: {name: data_parallel, replica: phased, transfers: in_turn}
)";
  CHECK(check_rising(text, {24'945, 41'613, 57'682}, names) >= 1);
}

// Before, each of ten replicas took the placement with which it is the fastest alone. So with 600 B of fast memory, the
// run took 28.52 ms, and with 1900 B 28.71 ms.
TEST_CASE("ten replicas are never slower with more fast memory", "[placement]") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [39]}, {type: dense, name: l0, features: 25}, {type: dense, name: l1, features: 39}]}}
platform:
  format: sluice-platform/1
  name: cards
  devices: {gpu: {count: 10, rate: {float32: 1GFLOP/s}, memory: [{capacity: 1MB, bandwidth: 500MB/s}, {name: ddr, capacity: 60kB, bandwidth: 20MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links: {host: {joins: [host, hub], bandwidth: 5MB/s}, fan: {joins: [hub, gpu], bandwidth: 60MB/s, setup: 20us, sharing: private}, far: {joins: [gpu, gpu_ddr], bandwidth: 300MB/s}}
workload: {mode: training, batch: 20, micro_batch: 1, steps: 3, optimizer: sgd}
cost: roofline
stages: per_layer
fates: recompute_all
policy: {name: data_parallel, replica: resident, all_reduce: "off", placement: auto}
)";
  CHECK(check_rising(text, {600, 1300, 1900, 3800, 4500}) >= 1);
}

/// A random scenario with nine or ten equal replicas of two products.
std::string many_replicas(std::uint64_t seed) {
  test::Dice dice(seed);
  const std::uint64_t count = 9 + dice.below(2);
  const bool training = dice.one_in(2);
  std::string text =
      test::two_products_model +
      "platform:\n  format: sluice-platform/1\n  name: cards\n  devices:\n    gpu:\n"
      "      count: " +
      std::to_string(count) + "\n      rate: {float32: " + number(dice, 100, 2000) +
      "FLOP/s}\n      memory:\n      - {capacity: 1MB, bandwidth: " + number(dice, 100, 2000) +
      "B/s}\n      - {name: ddr, capacity: 12kB, bandwidth: " + number(dice, 10, 1000) +
      "B/s}\n  memories: {host: {capacity: 1MB}}\n  switches: [hub]\n  links:\n"
      "    host: {joins: [host, hub], bandwidth: " +
      number(dice, 20, 500) +
      "B/s}\n    fan: {joins: [hub, gpu], bandwidth: " + number(dice, 20, 400) +
      "B/s}\n    far: {joins: [gpu, gpu_ddr], bandwidth: " + number(dice, 20, 500) +
      "B/s}\nstages: per_layer\ncost: roofline\n";
  text += training ? "workload: {mode: training, batch: " + std::to_string(count) +
                         ", micro_batch: 1, steps: 2}\nfates: keep_all\n"
                   : "workload: {batch: 1, batches_per_step: " +
                         std::to_string(count * (1 + dice.below(2))) + ", steps: 2}\n";
  return text + "policy: {name: data_parallel, replica: " +
         (dice.one_in(2) ? "resident" : "streamed, in_flight: 1") +
         ", placement: " + (dice.one_in(2) ? "static" : "auto") + "}\n";
}

TEST_CASE("no run of nine or ten replicas is slower with more fast memory",
          "[placement][property]") {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{3}); ++seed)
    faster += check_rising(many_replicas(seed), {400, 1500, 4000, 7000});
  CHECK(faster > 1);
}

}  // namespace
}  // namespace sluice
