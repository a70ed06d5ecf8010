// Compares the runs of a placed plan within limits of the two memories.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <map>

#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/limited_runs.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::number;

constexpr double never = std::numeric_limits<double>::infinity();

/// Training of random layers, with batches of `least` to `most` samples. All loads into the two memories share the link
/// to host memory.
Scenario random_training(Dice& dice, std::uint64_t least, std::uint64_t most) {
  Value document =
      parse_text(test::random_card(dice) +
                     "stages: per_layer\nfates: offload_all\nworkload: {mode: training, batch: " +
                     number(dice, least, most) + ", micro_batch: 1, steps: 2, optimizer: sgd}\n" +
                     "policy: {name: streamed, placement: none, in_flight: 1}\n",
                 "card.yaml");
  apply_overrides(document, {"platform.links.far={joins: [gpu, gpu_ddr], bandwidth: " +
                             number(dice, 50, 400) + "B/s, latency: " + number(dice, 0, 2) + "s}"});
  return read_scenario(document, "card");
}

/// A placed plan of random training, without limits of memory. `pools` are the two memories of the device. If `alike` is
/// true, the tensors of a class are all in the same memory, except weights. Then fewer limits lead to another run.
struct PlacedAtRandom {
  PlacedAtRandom(Dice& dice, Scenario scenario, bool alike) {
    scenario.capacity_enforced = false;
    const PlannedScenario planned = plan_scenario(scenario);
    const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
    PlacedPrices prices(request, {"gpu"}, {});
    const PlacedKinds placed(prices, planned.plan, /*in_turn=*/false);
    TensorKinds slow;
    std::map<TensorKind, bool> is_slow;
    for (const TensorKind& kind : placed.kinds()) {
      TensorKind name = kind;
      if (alike && kind.tensor_class != TensorClass::weight)
        name.stage = -1, name.of_weights = false;
      const auto [drawn, fresh] = is_slow.try_emplace(name, false);
      if (fresh) drawn->second = dice.one_in(2);
      if (drawn->second) slow.insert(kind);
    }
    plan = placed.plan(slow);
    pools = placed.pools();
  }
  Plan plan;
  std::vector<std::uint32_t> pools;
};

/// Returns the seconds of the plan within these limits, or infinity if it does not fit.
double seconds_within(Plan plan, const std::vector<std::uint32_t>& pools,
                      const LimitedRun::Limits& limits) {
  for (std::size_t p = 0; p < pools.size(); ++p) plan.pools[pools[p]].limit = limits[p];
  const ReplayResult result = replay(plan);
  return result.blocking ? never : result.makespan;
}

TEST_CASE(
    "no limit of the two memories makes a placed run faster than the fastest run within limits",
    "[placement][property]") {
  int faster = 0, runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{40}); ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const auto [plan, pools] = PlacedAtRandom(dice, random_training(dice, 1, 2), false);
    const LimitedRun best = fastest_within(plan, pools);
    REQUIRE(best.seconds < never);
    CHECK(seconds_within(plan, pools, best.limits) == best.seconds);
    const ReplayResult whole = replay(plan);
    faster += best.seconds < whole.makespan * (1 - 1e-9) ? 1 : 0;
    for (int n = 0; n < 60; ++n, ++runs) {
      LimitedRun::Limits limits = best.limits;
      for (std::size_t p = 0; p < pools.size(); ++p) {
        const auto most = static_cast<std::uint64_t>(whole.peaks[pools[p]]);
        limits[p] =
            dice.one_in(4) ? LimitedRun::none : static_cast<std::int64_t>(dice.below(most + 1));
      }
      CHECK(best.seconds <= seconds_within(plan, pools, limits) * (1 + 1e-9));
    }
    // With `worth`, runs that take longer are not needed.
    CHECK(fastest_within(plan, pools, {.worth = best.seconds * 1.01}).seconds == best.seconds);
    // The first run has no limits. If its seconds are enough, no other run is simulated.
    const LimitedRun first = fastest_within(plan, pools, {.enough = whole.makespan});
    CHECK(first.seconds == whole.makespan);
    CHECK(first.limits == LimitedRun::Limits(2, LimitedRun::none));
  }
  CHECK(runs > 1000);
  CHECK(faster > 0);
}

TEST_CASE(
    "more memory never makes the fastest run within limits slower if a round has many actions",
    "[placement][property]") {
  int waiting = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    Dice dice(seed);
    auto [plan, pools] = PlacedAtRandom(dice, random_training(dice, 12, 16), true);
    if (plan.body_end - plan.body_begin <= 100) continue;
    const ReplayResult whole = replay(plan);
    const auto seconds = [&, &plan = plan, &pools = pools](const LimitedRun::Limits& bytes) {
      for (std::size_t p = 0; p < pools.size(); ++p) {
        plan.pools[pools[p]].capacity = bytes[p];
        plan.pools[pools[p]].enforced = true;
      }
      return fastest_within(plan, pools).seconds;
    };
    for (int n = 0; n < 12; ++n) {
      LimitedRun::Limits fewer, more;
      for (const std::uint32_t pool : pools) {
        const auto part = static_cast<std::uint64_t>(whole.peaks[pool] / 4 + 1);
        fewer.push_back(whole.peaks[pool] - static_cast<std::int64_t>(dice.below(part)));
        more.push_back(fewer.back() + static_cast<std::int64_t>(dice.below(part)));
      }
      const double within = seconds(fewer);
      INFO("seed " << seed << ", " << fewer[0] << " and " << fewer[1] << " bytes");
      CHECK(seconds(more) <= within * (1 + 1e-9));
      waiting += within < never ? 1 : 0;
    }
  }
  CHECK(waiting > 20);
}

}  // namespace
}  // namespace sluice
