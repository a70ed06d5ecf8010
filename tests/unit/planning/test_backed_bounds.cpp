// Tests the lower bounds of runs whose weights come from a second memory of the device. The bounds are computed for a
// machine in which the second memory takes the place of host memory (planning/placement/backing.hpp). They must hold
// for the real machine, too.
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

/// Adds a second memory to the machine of the case. The link `far` to this memory may be much slower or much faster than
/// the link to host memory. Returns the case as text with this memory as the home of weights.
std::string with_second_memory(Dice& dice, RandomCase& made, const std::string& fates) {
  const std::string far = dice.one_in(2) ? "5MB/s" : "4GB/s";
  made.machine.push_back(
      "platform.devices.gpu.memory=[{capacity: unlimited, bandwidth: 1TB/s}, "
      "{name: ddr, capacity: unlimited, bandwidth: 1TB/s}]");
  made.machine.push_back("platform.links.far={joins: [gpu, gpu_ddr], bandwidth: " + far +
                         ", latency: " + (dice.one_in(2) ? "0us" : "300us") + "}");
  return made.text_with("stages: {cut: per_layer}\n", fates, ", placement: backing");
}

/// Compares the candidates of the scenario `text`, whose fates are those of `strategy`.
void compare_all(const RandomCase& made, const std::string& text, const std::string& strategy,
                 Dice& dice, Compared& compared) {
  const Scenario scenario = test::small_scenario(made.input, made.rows, text, made.machine);
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request =
      request_of(scenario, cut, plain_fates(fate_catalog().find(strategy)));
  INFO(strategy << "\n" << text << "\n" << made.machine.back());
  for (const Candidate& candidate :
       scenario.policy->candidates(request, scenario.policy.keys.reader()))
    compare(candidate, 0, dice, compared);
}

TEST_CASE(
    "with a second memory as the home of weights, no streamed inference takes fewer seconds than its bounds",
    "[property][placement]") {
  // Inputs and answers use the link to host memory, and each weight comes over this link once. All other copies use the
  // link `far` to the second memory.
  Compared compared;
  Dice dice(2028);
  for (int c = 0; c < test::cases_of(24); ++c) {
    RandomCase made = test::random_case(dice, "streamed", /*training=*/false);
    const std::string text = with_second_memory(dice, made, made.fates);
    compare_all(made, text, "keep_all", dice, compared);
  }
  CHECK(compared.ways > 100);
  // In many runs, the computation waits only for the first weights. These runs reach their bound.
  CHECK(compared.reached > compared.ways / 10);
}

TEST_CASE(
    "with a second memory as the home of offloaded tensors, no training takes fewer seconds than its bounds",
    "[property][placement]") {
  // Inputs use the link to host memory, also if they are loaded again for a backward pass. This link may be slower or faster than `far`.
  Compared compared;
  Dice dice(2029);
  for (const std::string policy : {"streamed", "resident"})
    for (const std::string fates : {"offload_all", "checkpoint", "optimal"})
      for (int c = 0; c < test::cases_of(4); ++c) {
        RandomCase made = test::random_case(dice, policy, /*training=*/true);
        const std::string text =
            with_second_memory(dice, made, "fates: {strategy: " + fates + "}\n");
        made.machine.push_back("platform.links.host.bandwidth=" +
                               std::string(dice.one_in(2) ? "10GB/s" : "1MB/s"));
        compare_all(made, text, fates, dice, compared);
      }
  CHECK(compared.ways > 100);
  CHECK(compared.reached > 10);
}

TEST_CASE("the bound of a search for fates counts no inputs on the link of the second memory",
          "[placement][training]") {
  // An input has 1 MB. Over the link to host memory, its load takes 0.1 ms. Over the link to the second memory, which
  // only weights, gradients and activations use, it would take 1 s.
  const std::string second =
      "platform.devices.gpu.memory=[{capacity: unlimited, bandwidth: 1TB/s}, "
      "{name: ddr, capacity: unlimited, bandwidth: 1TB/s}]";
  for (const char* overlap : {"true", "false"}) {
    const Scenario scenario = test::small_scenario(
        1'000'000, {{0.001, 1'000, 400}, {0.001, 1'000, 400}},
        "workload: {mode: training, batch: 4, micro_batch: 1, optimizer: none, steps: 2}\n"
        "stages: {cut: per_layer}\nfates: {strategy: optimal}\n"
        "policy: {name: streamed, placement: backing, in_flight: 1, overlap: " +
            std::string(overlap) + "}\n",
        {second, "platform.links.far={joins: [gpu, gpu_ddr], bandwidth: 1MB/s}",
         "platform.links.host.bandwidth=10GB/s"});
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request = request_of(scenario, cut, scenario.fates);
    Dice dice(1);
    Compared compared;
    for (const Candidate& candidate :
         scenario.policy->candidates(request, scenario.policy.keys.reader()))
      compare(candidate, 0, dice, compared);
    CHECK(compared.ways > 0);
  }
}

}  // namespace
}  // namespace sluice
