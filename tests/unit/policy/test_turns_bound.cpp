// Tests placements under policy streamed in random scenarios. No placement may be faster than the one that Sluice
// chooses, not even a placement that a lower bound rules out.
#include <catch2/catch.hpp>
#include <limits>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/placement/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_chain.hpp"

namespace sluice {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

using Dice = test::Dice;

std::string number(Dice& dice, std::uint64_t least, std::uint64_t most) {
  return std::to_string(least + dice.below(most - least + 1));
}

/// A link with random times. The two directions may share its bandwidth.
std::string link(Dice& dice, const std::string& name, const std::string& joins) {
  return "    " + name + ": {joins: " + joins + ", bandwidth: " + number(dice, 5, 200) +
         "B/s, latency: " + number(dice, 0, 3) + "s, setup: " + number(dice, 0, 2) + "s" +
         (dice.one_in(4) ? ", duplex: half" : "") + "}\n";
}

/// Layers of random widths, on a card with two memories. The link of the second memory leads to the first memory, or to
/// host memory.
std::string random_card(Dice& dice) {
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
         link(dice, "host", "[host, gpu]") +
         link(dice, "far", dice.one_in(2) ? "[gpu, gpu_ddr]" : "[host, gpu_ddr]") +
         "cost: {model: roofline, pools: " + (dice.one_in(2) ? "side_by_side" : "in_turn") + "}\n";
}

Scenario random_scenario(std::uint64_t seed) {
  Dice dice(seed);
  std::string text = random_card(dice);
  if (!dice.one_in(10)) text += dice.one_in(3) ? "stages: whole\n" : "stages: per_layer\n";
  const std::string steps = number(dice, 1, 4), per_step = number(dice, 1, 3);
  text += "workload: {batch: " + number(dice, 1, 3) + ", batches_per_step: " + per_step +
          ", steps: " + steps + "}\n";
  if (dice.one_in(3)) text += "memory: {working_set: ignored}\n";
  text += std::string("policy: {name: streamed, placement: ") +
          (dice.one_in(4) ? "all_slow" : "static");
  if (dice.one_in(3)) text += ", overlap: false";
  if (dice.one_in(4)) text += ", outputs: discard";
  if (dice.one_in(3)) text += ", in_flight: " + number(dice, 1, std::stoull(per_step));
  if (dice.one_in(4)) text += ", buffers: " + number(dice, 1, 4);
  if (dice.one_in(4)) text += ", pieces: whole";
  if (dice.one_in(4)) text += dice.one_in(2) ? ", resident: none" : ", resident: all";
  return read_scenario(parse_text(text + "}\n", "card.yaml"), "card");
}

TEST_CASE("under streamed, no placed run is faster than the bound of its shown machine",
          "[placement][property]") {
  int runs = 0, ruled_out = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{200}); ++seed) {
    const Scenario scenario = random_scenario(seed);
    std::vector<std::pair<double, double>> all;
    double fastest = never;
    for (const CutModel& cut : cut_models(scenario)) {
      const PolicyRequest request = request_of(scenario, cut, {});
      // The last candidate divides into one candidate for each shown machine (planning/placement/placed_turns.hpp).
      const std::vector<Candidate> candidates =
          scenario.policy->candidates(request, scenario.policy.keys.reader());
      for (const Candidate& one : candidates.back().open())
        one.simulate(never, [&](const Settled& settled) {
          INFO("seed " << seed << ", " << cut.text);
          CHECK(one.at_least <= settled.seconds);
          if (settled.plan) all.emplace_back(one.at_least, settled.seconds);
          fastest = std::min(fastest, settled.seconds);
        });
    }
    runs += static_cast<int>(all.size());
    for (const auto& [at_least, seconds] : all) ruled_out += at_least > fastest ? 1 : 0;
  }
  CHECK(runs > 500);
  CHECK(ruled_out > runs / 20);
}

TEST_CASE("under streamed, a placement that is left open is as fast as each placement given",
          "[placement][property]") {
  for (std::uint64_t seed = 1000; seed < 1000 + test::cases_of(std::uint64_t{30}); ++seed) {
    const auto seconds = [&](const std::string& placement) {
      Value document = random_scenario(seed).document;
      apply_overrides(document, {"policy.placement=" + placement});
      try {
        return replay(make_plan(read_scenario(document, "card"))).makespan;
      } catch (const Infeasible&) {
        return never;
      }
    };
    const double open = seconds("auto");
    for (const char* placement : {"none", "backing", "static", "all_slow"}) {
      INFO("seed " << seed << ", " << placement);
      CHECK(open <= seconds(placement) * (1 + 1e-9));
    }
  }
}

TEST_CASE("under streamed, no placed plan is faster than its bound", "[placement][property]") {
  int runs = 0, reached = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{200}); ++seed) {
    Scenario scenario = random_scenario(seed);
    apply_overrides(scenario.document, {"policy.placement=none"});
    scenario = read_scenario(scenario.document, "card");
    scenario.capacity_enforced = false;
    const PlannedScenario planned = plan_scenario(scenario);
    const PolicyRequest request = request_of(scenario, planned.cut, {});
    PlacedPrices prices(request, "gpu");
    const PlacedKinds placed(prices, planned.plan,
                             scenario.policy.keys.map().find("overlap") != nullptr);
    Dice dice(seed);
    for (int n = 0; n < 8; ++n) {
      TensorKinds slow;
      for (const TensorKind& kind : placed.kinds())
        if (dice.one_in(2)) slow.insert(kind);
      INFO("seed " << seed << ", placement " << n);
      const double least = placed.seconds_at_least(slow);
      const double seconds = replay(placed.plan(slow)).makespan;
      CHECK(least <= seconds);
      ++runs;
      reached += seconds <= least * (1 + 1e-6) ? 1 : 0;
    }
  }
  CHECK(reached > runs / 4);
}

}  // namespace
}  // namespace sluice
