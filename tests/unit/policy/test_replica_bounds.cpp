// Tests the lower bounds of runs in which several devices run replicas of another policy. Replicas share links, and sum
// their gradients over a ring.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "planning/run_seconds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomCase;

/// Returns a random case of training with replicas on two devices, and with a cut into one or several stages.
RandomCase random_replicas(Dice& dice, const std::string& policy) {
  RandomCase made = test::random_case(dice, "data_parallel " + policy, true);
  const std::vector<std::string> latencies = {"0us", "9us", "400us"}, duplexes = {"full", "half"};
  made.machine.push_back("platform.links.pair.setup=" + latencies[dice.below(3)]);
  made.machine.push_back("platform.links.pair.latency=" + latencies[dice.below(3)]);
  made.machine.push_back("platform.links.pair.duplex=" + duplexes[dice.below(2)]);
  made.machine.push_back("platform.links.host.duplex=" + duplexes[dice.below(2)]);
  made.cut = dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
  const std::vector<std::string> ways = {"overlapped", "after", "off"};
  made.keys += ", all_reduce: " + ways[dice.below(3)];
  return made;
}

TEST_CASE("no training of replicas takes fewer seconds than its bound", "[property]") {
  const std::vector<std::string> fates = {"keep_all", "offload_all", "sqrt", "recompute_all"};
  int compared = 0, reached = 0;
  Dice dice(2029);
  for (const std::string policy : {"streamed", "resident", "phased"})
    for (int c = 0; c < test::cases_of(12); ++c) {
      RandomCase made = random_replicas(dice, policy);
      made.fates = "fates: {strategy: " + fates[dice.below(fates.size())] + "}\n";
      for (const char* transfers : {"together", "in_turn"}) {
        const std::string text =
            made.text_with(made.cut, made.fates, std::string(", transfers: ") + transfers);
        INFO(policy << " case " << c << "\n" << text);
        const Scenario scenario = test::small_scenario(made.input, made.rows, text, made.machine);
        const CutModel cut = cut_models(scenario).front();
        PolicyRequest request = request_of(scenario, cut, scenario.fates);
        request.fates_open = true;
        const Reader& parameters = scenario.policy.keys.reader();
        const double least = scenario.policy->at_least(request, parameters);
        const double seconds =
            run_seconds(finish(scenario.policy->plan(request, parameters), request));
        CHECK(least > 0);
        CHECK(least <= seconds);
        ++compared;
        reached += seconds <= least * (1 + 1e-3) ? 1 : 0;
      }
    }
  CHECK(compared >= 72);
  CHECK(reached > compared / 20);
}

}  // namespace
}  // namespace sluice
