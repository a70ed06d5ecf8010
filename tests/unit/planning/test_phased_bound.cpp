// Compares the lower bounds of phased inference with the seconds of runs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/phased/at_least.hpp"
#include "policy/policy.hpp"
#include "scenario/open_cuts.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomCase;

/// Two devices with links of their own to host memory. The computations of the two stages take 1 and 3 ms, and the loads
/// of their weights 2 and 1 ms. The load of an input takes 0.1 ms, and the save of an answer 0.2 ms.
Scenario two_stages(const std::string& keys, const std::string& capacity) {
  return test::small_scenario(
      100'000, {{1, 2'000'000, 50'000}, {3, 1'000'000, 200'000}},
      "stages: {cut: per_layer}\nworkload: {batches_per_step: 2}\n"
      "policy: {name: phased, in_flight: 1" +
          keys + "}\n",
      {"platform.devices.gpu.count=2", "platform.devices.gpu.memory.capacity=" + capacity});
}

double bound_of(const Scenario& scenario) {
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_of(scenario, cut, scenario.fates);
  const Reader& parameters = scenario.policy.keys.reader();
  return scenario.policy->at_least(request, parameters)(parameters);
}

TEST_CASE(
    "the bound of phased inference adds up phases, each as long as its computation or its transfers") {
  // The first phase begins at 2.1 ms, the second at 3.1 ms. The third needs the input and the weights of the first
  // stage again, and begins when the second has ended, at 6.1 ms. The fourth begins at 7.1 ms and ends at 10.1 ms.
  const Scenario overlapped = two_stages("", "10MB");
  CHECK(bound_of(overlapped) == Approx(10.3e-3).epsilon(1e-6));
  CHECK(replay(make_plan(overlapped)).makespan == Approx(10.3e-3).epsilon(1e-6));
  // If loads wait for the phase before, the second phase begins at 2.1 + 1 + 1 ms, and so on.
  const Scenario on_demand = two_stages(", weights: on_demand", "10MB");
  CHECK(bound_of(on_demand) == Approx(14.4e-3).epsilon(1e-6));
  CHECK(replay(make_plan(on_demand)).makespan == Approx(14.4e-3).epsilon(1e-6));
  // Without overlap, the saves of both answers add their seconds, too.
  const Scenario one_by_one = two_stages(", overlap: false", "10MB");
  CHECK(bound_of(one_by_one) == Approx(14.6e-3).epsilon(1e-6));
  CHECK(replay(make_plan(one_by_one)).makespan == Approx(14.6e-3).epsilon(1e-6));
}

TEST_CASE("if a stage of phased inference has no room in any memory, its bound is infinite") {
  CHECK(bound_of(two_stages("", "2.04MB")) == never);  // the first stage makes 50 kB
  CHECK(bound_of(two_stages("", "2.05MB")) < never);
}

/// Returns a random case of phased inference, and the scenario's mapping `phases:`.
std::pair<RandomCase, std::string> random_phases(Dice& dice) {
  RandomCase made = test::random_case(dice, "phased", false, 6);
  const std::vector<std::string> cuts = {"per_layer", "whole", "by_weight, groups: 3"},
                                 places = {"on_chip", "pair_link", "streaming"};
  made.cut = "stages: {cut: " + cuts[dice.below(3)] + "}\n";
  const std::string phases = "phases: {activations: " + places[dice.below(3)] +
                             (dice.one_in(4) ? ", stages: 1" : "") + "}\n";
  for (const char* key :
       {"weights: on_demand", "weights_per: step", "host_data: synthetic", "outputs: discard"})
    if (dice.one_in(4)) made.keys += ", " + std::string(key);
  if (dice.one_in(3)) {
    std::ranges::replace(made.machine, std::string("platform.devices.gpu.count=2"),
                         std::string("platform.devices.gpu.count=3"));
    made.machine.back() =
        "platform.links.pair={joins: [gpu0, gpu1, gpu2], bandwidth: 100MB/s, latency: 5us}";
  }
  made.machine.push_back("platform.links.host.duplex=" +
                         std::string(dice.one_in(2) ? "half" : "full"));
  return {made, phases};
}

TEST_CASE("no run of phased inference takes fewer seconds than its bound", "[property]") {
  Dice dice(3);
  int compared = 0, near = 0;
  for (int c = 0; c < test::cases_of(300); ++c) {
    const auto [made, phases] = random_phases(dice);
    const std::string text = made.text() + phases;
    INFO("case " << c << "\n" << text);
    const Scenario scenario = test::small_scenario(made.input, made.rows, text, made.machine);
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request = request_of(scenario, cut, scenario.fates);
    const Policy& policy = *scenario.policy;
    const Reader& parameters = scenario.policy.keys.reader();
    std::vector<Value> maps = policy.alternatives(request, parameters);
    if (maps.empty()) maps.push_back(parameters.map());
    const BoundOfWays bound = policy.at_least(request, parameters);
    for (const Value& map : maps) {
      const Keys keys(map, record_of(policy));
      const double seconds = replay(finish(policy.plan(request, keys.reader()), request)).makespan;
      const double least = bound(keys.reader());
      CHECK(least <= seconds);
      ++compared;
      near += least >= 0.99 * seconds ? 1 : 0;
    }
  }
  CHECK(compared > 1000);
  CHECK(near > compared / 2);
}

}  // namespace
}  // namespace sluice
