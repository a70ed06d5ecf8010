// Tests the question whether a plan fits: its answer is the same as if the plan were made.
#include "scenario/fit_question.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "support/campaign.hpp"
#include "support/drawn_layers.hpp"

namespace sluice {
namespace {

Scenario scenario_with(const std::string& text, std::int64_t capacity) {
  Value document = parse_text(text, "drawn.yaml");
  apply_overrides(document, {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"});
  return read_scenario(std::move(document), "drawn");
}

bool has_plan(const Scenario& scenario) {
  try {
    make_plan(scenario);
    return true;
  } catch (const Infeasible&) {
    return false;
  }
}

/// Returns a random scenario with one or two devices, without a limit of memory.
std::string drawn(test::Dice& dice) {
  std::vector<test::Drawn> layers = test::random_layers(dice, 2 + dice.below(3));
  for (test::Drawn& layer : layers) layer.parameters = 1 + static_cast<int>(dice.below(50));
  const std::vector<std::string> policies = {"streamed", "phased", "resident"},
                                 fates = {"auto", "optimal", "offload_all", "checkpoint"};
  const bool training = !dice.one_in(4), pair = dice.one_in(2);
  std::string text = "format: sluice-scenario/1\n" +
                     test::model_text(1 + static_cast<int>(dice.below(100)), layers) +
                     "platform:\n  format: sluice-platform/1\n  name: small\n  devices:\n    gpu: {count: " +
                     (pair ? "2" : "1") +
                     ", rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}\n"
                     "  memories: {host: {capacity: unlimited}}\n"
                     "  links: {host: {joins: [host, gpu], bandwidth: 1GB/s, duplex: full, sharing: private}}\n";
  text += "cost: {model: peak}\nworkload: {mode: " + std::string(training ? "training" : "inference") +
          ", batch: 4, micro_batch: " + std::to_string(1 + dice.below(2)) + "}\n";
  if (dice.one_in(2)) text += "stages: {cut: per_layer}\n";
  text += "policy: {name: " + policies[dice.below(policies.size())] + "}\n";
  if (training) text += "fates: " + fates[dice.below(fates.size())] + "\n";
  return text;
}

TEST_CASE("the question whether a plan fits has the same answer as the plan", "[property]") {
  test::Dice dice(1131);
  int refused = 0, fitting = 0;
  for (int k = 0; k < test::cases_of(12); ++k) {
    const std::string text = drawn(dice);
    const Plan unlimited = make_plan(scenario_with(text, std::int64_t{1} << 40));
    const std::int64_t most = replay(unlimited).peaks.front();
    for (const std::int64_t eighths : {1, 2, 4}) {
      const Scenario scenario = scenario_with(text, 1 + most * eighths / 8);
      INFO(text << eighths << " eighths of " << most << " bytes");
      const bool has = has_plan(scenario);
      const FitQuestion question = ask_whether_fits(scenario);
      CHECK(question.missing.has_value() != has);
      ++(has ? fitting : refused);
    }
  }
  CHECK(refused > 5);
  CHECK(fitting > 2);
}

}  // namespace
}  // namespace sluice
