// Tests the lower bounds of streamed inference from a second memory. For these plans, the second memory takes the place
// of host memory (planning/placement/backing.hpp). The bounds must hold for the real machine.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomCase;

/// Counts ways to settle a candidate: all that were compared with their bound, and those that nearly reach it.
struct Compared {
  int ways = 0, reached = 0;
};

/// Opens a candidate, and some of the candidates to which it leads. A candidate's bound holds for the candidate and for
/// all candidates to which it leads. Checks that no way to settle them takes fewer seconds.
void compare(const Candidate& candidate, double least, Dice& dice, Compared& compared) {
  constexpr std::size_t tried = 2;
  least = std::max(least, candidate.at_least);
  if (candidate.open) {
    const std::vector<Candidate> opened = candidate.open();
    for (std::size_t i = 0; i < std::min(tried, opened.size()); ++i) {
      const std::size_t chosen = opened.size() <= tried ? i : dice.below(opened.size());
      compare(opened[chosen], least, dice, compared);
    }
    return;
  }
  candidate.simulate(std::numeric_limits<double>::infinity(), [&](const Settled& way) {
    INFO(way.text);
    CHECK(least <= way.seconds * (1 + 1e-12));
    ++compared.ways;
    compared.reached += way.seconds <= least * (1 + 1e-3);
  });
}

TEST_CASE(
    "with a second memory as the home of weights, no streamed inference takes fewer seconds than its bounds",
    "[property][placement]") {
  // Inputs and answers use the link to host memory, over which each weight comes once. All other copies use the link
  // `far`, which may be much slower or faster.
  Compared compared;
  Dice dice(2028);
  for (int c = 0; c < test::cases_of(24); ++c) {
    RandomCase made = test::random_case(dice, "streamed", false);
    const std::string far = dice.one_in(2) ? "5MB/s" : "4GB/s";
    made.machine.push_back(
        "platform.devices.gpu.memory=[{capacity: unlimited, bandwidth: 1TB/s}, "
        "{name: ddr, capacity: unlimited, bandwidth: 1TB/s}]");
    made.machine.push_back("platform.links.far={joins: [gpu, gpu_ddr], bandwidth: " + far +
                           ", latency: " + (dice.one_in(2) ? "0us" : "300us") + "}");
    const std::string text =
        made.text_with("stages: {cut: per_layer}\n", made.fates, ", placement: backing");
    const Scenario scenario = test::small_scenario(made.input, made.rows, text, made.machine);
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request =
        request_of(scenario, cut, plain_fates(fate_catalog().find("keep_all")));
    INFO("case " << c << ", far " << far << "\n" << text);
    for (const Candidate& candidate :
         scenario.policy->candidates(request, scenario.policy.keys.reader()))
      compare(candidate, 0, dice, compared);
  }
  CHECK(compared.ways > 100);
  // The computation of many runs waits only for the first weights, so these runs reach their bound.
  CHECK(compared.reached > compared.ways / 10);
}

}  // namespace
}  // namespace sluice
