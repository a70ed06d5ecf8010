// The kinds of tensors that policy streamed places: each stage has kinds of its own.
#include <catch2/catch.hpp>
#include <string>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/limited_runs.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"

namespace sluice {
namespace {

/// These layers on a card whose second memory has a tenth of the bandwidth of the first memory. FLOP take no time.
Scenario on_card(const std::string& layers, std::int64_t first, const std::string& more) {
  return read_scenario(
      parse_text("format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
                 "    name: layers\n    layers:\n" +
                     layers +
                     "platform:\n  format: sluice-platform/1\n  name: card\n  devices:\n    gpu:\n"
                     "      rate: {float32: 1000TFLOP/s}\n      memory:\n      - {capacity: " +
                     std::to_string(first) +
                     "B, bandwidth: 100B/s}\n      - {name: ddr, capacity: 1MB, bandwidth: 10B/s}\n"
                     "  memories: {host: {capacity: 1MB}}\n  links:\n"
                     "    host: {joins: [host, gpu], bandwidth: 10B/s}\n"
                     "    far: {joins: [gpu, gpu_ddr], bandwidth: 100B/s}\n"
                     "stages: per_layer\ncost: roofline\n" +
                     more,
                 "card.yaml"),
      "card");
}

const char* const chain =
    "    - {type: input, name: x, shape: [5]}\n"
    "    - {type: dense, name: a, features: 20}\n    - {type: dense, name: b, features: 40}\n"
    "    - {type: dense, name: c, features: 10}\n    - {type: dense, name: d, features: 30}\n"
    "    - {type: dense, name: e, features: 5}\n";

std::string training(const std::string& placement) {
  return "fates: keep_all\nworkload: {mode: training, batch: 8, optimizer: sgd, steps: 2}\n"
         "policy: {name: streamed, in_flight: 1, placement: " +
         placement + "}\n";
}

TEST_CASE("placements of single kinds are faster than placements of whole classes", "[placement]") {
  int faster = 0;
  for (std::int64_t first = 4000; first < 26000; first += 2000) {
    INFO(first << " bytes");
    Scenario scenario = on_card(chain, first, training("none"));
    scenario.capacity_enforced = false;
    const PlannedScenario planned = plan_scenario(scenario);
    scenario.capacity_enforced = true;
    const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
    PlacedPrices prices(request, {"gpu"});
    const PlacedKinds placed(prices, planned.plan, false);
    const auto fastest = [&](const std::vector<TensorKinds>& placements) {
      double seconds = never;
      for (const TensorKinds& slow : placements)
        seconds = std::min(seconds, fastest_within(placed.plan(slow), placed.pools()).seconds);
      return seconds;
    };
    const double of_classes = fastest(placed.sets_of_blocks()),
                 single = fastest(placed.filled(true));
    REQUIRE(single < never);
    faster += single < 0.95 * of_classes ? 1 : 0;
  }
  CHECK(faster >= 3);
}

TEST_CASE("tensors that cross several cuts are of one kind in all stages between these cuts",
          "[placement]") {
  // The output of a crosses the cuts after a and after b, and the output of c only crosses the cut after c.
  const std::string shortcut =
      "    - {type: input, name: x, shape: [5]}\n"
      "    - {type: dense, name: a, features: 5, inputs: [x]}\n"
      "    - {type: dense, name: b, features: 5, inputs: [a]}\n"
      "    - {type: add, name: c, inputs: [a, b]}\n"
      "    - {type: dense, name: d, features: 5, inputs: [c]}\n"
      "    - {type: dense, name: e, features: 5, inputs: [d]}\n";
  const Scenario scenario = on_card(shortcut, 1'000'000, training("none"));
  const PlannedScenario planned = plan_scenario(scenario);
  const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
  REQUIRE(request.pricing.stages.size() == 5);
  const PlacedPrices prices(request, {"gpu"});
  for (const auto& [stage, first] : {std::pair(0, 0), {1, 0}, {2, 2}, {3, 3}, {4, 4}})
    CHECK(prices.stage_of_activations(stage) == first);
}

}  // namespace
}  // namespace sluice
