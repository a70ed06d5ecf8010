// More than eight replicas: if their steps are short or they run in lock step, their choices are compared by runs of all
// of them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "document/load.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/lock_step.hpp"
#include "policy/settle/replicas.hpp"
#include "scenario/scenario.hpp"
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

/// Returns a random training of 9 to 12 equal replicas, whose steps are so long that they are not few. The bytes of the
/// gradients of each stage are a multiple of the number of replicas, if they are `even`.
std::string long_training(test::Dice& dice, const std::string& duplex, bool even) {
  const std::uint64_t count = 9 + dice.below(4), layers = 3, unit = even ? count : 1;
  std::string text =
      "format: sluice-scenario/1\nmodel: {definition: {format: sluice-model/1, name: r, layers: ["
      "{type: input, name: x, shape: [" +
      std::to_string(8 + dice.below(57)) + "]}";
  for (std::uint64_t k = 0; k < layers; ++k)
    text += ", {type: dense, name: l" + std::to_string(k) +
            ", features: " + std::to_string(unit * (1 + dice.below(60 / unit))) + "}";
  const std::string host =
      dice.one_in(2) ? "joins: [host, hub]" : "joins: [host, gpu], sharing: private";
  text += "]}}\nplatform:\n  format: sluice-platform/1\n  name: cards\n  devices: {gpu: {count: " +
          std::to_string(count) + ", rate: {float32: " + number(dice, 100'000, 3'000'000) +
          "FLOP/s}, memory: [{capacity: 1MB, bandwidth: 500MB/s}]}}\n"
          "  memories: {host: {capacity: 1GB}}\n  switches: [hub]\n  links:\n    host: {" +
          host + ", bandwidth: " + number(dice, 100, 1000) + "B/s, setup: 5us}\n" +
          "    fan: {joins: [hub, gpu], sharing: private, bandwidth: " + number(dice, 100, 1000) +
          "B/s" + duplex + "}\n";
  text +=
      "workload: {mode: training, batch: " + std::to_string(count * (4000 / count / layers + 1)) +
      ", micro_batch: 1, optimizer: sgd}\nfates: " +
      (dice.one_in(2) ? "offload_all" : "recompute_all") +
      "\ncost: roofline\nstages: per_layer\npolicy: {name: data_parallel, all_reduce: " +
      (dice.one_in(2) ? "after" : "overlapped") + ", replica: ";
  return text + (dice.one_in(2) ? "phased" : "streamed") + ", in_flight: 2}\n";
}

/// Calls `check` with the seconds of a run of all replicas, and with the bound that a run of one replica gives.
template <class Check>
void with_lock_step(const std::string& text, const Check& check) {
  INFO(text);
  const Scenario scenario = read_scenario(parse_text(text, "cards.yaml"), "cards");
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_of(scenario, cut, scenario.fates);
  const Reader& parameters = scenario.policy.keys.reader();
  const std::optional<LockStep> all = LockStep::of(request, parameters);
  REQUIRE(all);
  const Policy& policy = acting_policy(policy_catalog().find("data_parallel"), parameters);
  std::vector<Plan> parts =
      replica_plans(policy, request, parameters, request.pricing.platform).plans;
  const double least = all->least_seconds(parts.front());
  check(run_seconds(joined_together(policy, request, parameters, std::move(parts))), least);
}

TEST_CASE("a run of one replica takes as long as a run of all replicas in lock step",
          "[property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    test::Dice dice(seed);
    with_lock_step(long_training(dice, "", /*even=*/true), [](double seconds, double least) {
      CHECK(least <= seconds * (1 + 1e-9));
      CHECK(least >= seconds * (1 - 1e-9));
    });
  }
}

TEST_CASE("no run of all replicas in lock step takes fewer seconds than its bound", "[property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    test::Dice dice(seed);
    const std::string duplex = dice.one_in(2) ? ", duplex: half" : "";
    with_lock_step(long_training(dice, duplex, /*even=*/false), [](double seconds, double least) {
      CHECK(least > seconds / 2);
      CHECK(least <= seconds * (1 + 1e-9));
    });
  }
}

TEST_CASE("no training of replicas in lock step is slower with more memory", "[property]") {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{3}); ++seed) {
    test::Dice dice(seed);
    faster += check_rising(long_training(dice, "", /*even=*/false),
                           {9000, 13'000, 19'000, 27'000, 40'000, 60'000});
  }
  CHECK(faster > 1);
}

// Before, a single replica with its share of the links chose, without the sums of gradients. With 50,503 B of memory,
// the run took 57.29 ms, and with 60,953 B 58.04 ms.
TEST_CASE("nine replicas that sum gradients in a long step are not slower with more memory") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: r, layers: [{type: input, name: x, shape: [58]}, {type: dense, name: l0, features: 8}, {type: dense, name: l1, features: 26}, {type: dense, name: l2, features: 18}, {type: dense, name: l3, features: 44}, {type: dense, name: l4, features: 22}, {type: dense, name: l5, features: 32}, {type: dense, name: l6, features: 57}, {type: dense, name: l7, features: 62}, {type: dense, name: l8, features: 50}, {type: dense, name: l9, features: 13}]}}
platform:
  format: sluice-platform/1
  name: random
  devices: {gpu: {count: 9, rate: {float32: 100MFLOP/s}, memory: [{capacity: 1MB, bandwidth: 1000MB/s}]}}
  memories: {host: {capacity: 1GB}}
  switches: [hub]
  links:
    host: {joins: [host, gpu], sharing: private, bandwidth: 500MB/s, setup: 5us, duplex: half}
    fan: {joins: [hub, gpu], sharing: private, bandwidth: 200MB/s}
workload: {mode: training, batch: 648, micro_batch: 2, steps: 1, optimizer: sgd}
fates: keep_all
cost: roofline
policy: {name: data_parallel, replica: streamed, in_flight: 2}
)";
  CHECK(check_rising(text, {50'503, 60'953}) == 1);
}

}  // namespace
}  // namespace sluice
