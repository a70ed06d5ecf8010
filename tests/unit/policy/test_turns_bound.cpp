// Tests placements under policy streamed in random scenarios. No placement may be faster than the one that Sluice
// chooses, not even a placement that a lower bound rules out.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/placed_bounds.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::number;
using test::random_card;

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
      // The last candidate divides into one candidate for each shown machine
      // (planning/placement/turns/placed_turns.hpp).
      const std::vector<Candidate> candidates =
          scenario.policy->candidates(request, scenario.policy.keys.reader());
      for (const Candidate& one : candidates.back().open())
        one.simulate(never, [&](const Settled& settled) {
          INFO("seed " << seed << ", " << cut.stages.size() << " stages");
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

// Weights that stay need room in the first memory that other tensors may use better.
TEST_CASE("under streamed, a placed run is never slower because weights may stay",
          "[placement][property]") {
  int faster = 0;
  for (std::uint64_t seed = 2000; seed < 2000 + test::cases_of(std::uint64_t{60}); ++seed) {
    Value document = random_scenario(seed).document;
    const auto seconds = [&](const std::string& resident) {
      apply_overrides(document, {"policy.resident=" + resident});
      try {
        return replay(make_plan(read_scenario(document, "card"))).makespan;
      } catch (const Infeasible&) {
        return never;
      }
    };
    const double none = seconds("none"), open = seconds("auto");
    INFO("seed " << seed);
    CHECK(open <= none * (1 + 1e-9));
    faster += open < none * (1 - 1e-9) ? 1 : 0;
  }
  CHECK(faster > test::cases_of(8));
}

TEST_CASE("under streamed, no placed plan is faster than its bound", "[placement][property]") {
  test::BoundRuns counts;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{200}); ++seed) {
    Scenario scenario = random_scenario(seed);
    apply_overrides(scenario.document, {"policy.placement=none"});
    test::check_placed_bounds(read_scenario(scenario.document, "card"), seed, counts);
  }
  CHECK(counts.reached > counts.runs / 4);
}

}  // namespace
}  // namespace sluice
