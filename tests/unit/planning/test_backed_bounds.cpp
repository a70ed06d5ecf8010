// Tests the lower bounds of streamed inference whose weights come from a second memory of the device. The bounds are
// computed for a machine in which the second memory takes the place of host memory (planning/placement/backing.hpp).
// They must hold for the real machine, too.
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

/// Counts ways to settle a candidate. `ways` counts all ways whose seconds were compared with the bound. `reached`
/// counts the ways that take hardly longer than the bound.
struct Compared {
  int ways = 0, reached = 0;
};

/// Calls Candidate::open, which divides a candidate into several candidates. Does the same with some of these. The
/// bound of a candidate holds for all candidates that come from it. Checks that no way to settle them takes fewer
/// seconds than their bounds.
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
  // Inputs and answers use the link to host memory, and each weight comes over this link once. All other copies use the
  // link `far` to the second memory. The link `far` may be much slower or much faster than the link to host memory.
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
  // In many runs, the computation waits only for the first weights. These runs reach their bound.
  CHECK(compared.reached > compared.ways / 10);
}

}  // namespace
}  // namespace sluice
