// Compares the runs of a placed plan within limits of the two memories.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/placement/turns/limited_runs.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "planning/run_seconds.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::number;

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

/// A placed plan of random training, without limits of memory. Each kind of tensors is in one of the two memories.
/// `pools` are the two memories of the device.
struct PlacedAtRandom {
  PlacedAtRandom(Dice& dice, Scenario scenario) {
    scenario.capacity_enforced = false;
    const PlannedScenario planned = plan_scenario(scenario);
    const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
    PlacedPrices prices(request, {"gpu"}, {});
    const PlacedKinds placed(prices, planned.plan, /*in_turn=*/false);
    TensorKinds slow;
    for (const TensorKind& kind : placed.kinds())
      if (dice.one_in(2)) slow.insert(kind);
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

/// Gives the pools of the plan these capacities.
void set_capacities(Plan& plan, const std::vector<std::uint32_t>& pools,
                    const LimitedRun::Limits& bytes) {
  for (std::size_t p = 0; p < pools.size(); ++p) {
    plan.pools[pools[p]].capacity = bytes[p];
    plan.pools[pools[p]].enforced = true;
  }
}

/// What happens with larger and larger memories.
struct Counts {
  int fit = 0, refused = 0, faster = 0;  ///< `faster`: than with less memory
  int limited = 0, in_turn = 0;          ///< how the fastest runs differ from the plan's run
};

/// Compares the runs of the plan in 8 sizes of both memories, which rise from less than the plan needs to more than it
/// uses. Each run must be at least as fast as with less memory, and a plan that runs in the memories must not be refused.
/// If host memory is full, only a plan that runs in less memory must not be refused.
void check_sizes(Plan plan, const std::vector<std::uint32_t>& pools, Dice& dice, Counts& counts,
                 bool full_host = false) {
  const ReplayResult whole = replay(plan, ReplayOptions{.unlimited = full_host});
  double with_less = never;
  LimitedRun::Limits bytes(pools.size(), 0);
  for (int n = 0; n < 8; ++n) {
    for (std::size_t p = 0; p < pools.size(); ++p)
      bytes[p] += static_cast<std::int64_t>(
          dice.below(static_cast<std::uint64_t>(whole.peaks[pools[p]] / 3 + 2)));
    INFO(bytes[0] << " and " << bytes[1] << " bytes");
    set_capacities(plan, pools, bytes);
    const LimitedRun best = fastest_within(plan, pools);
    CHECK(best.seconds <= with_less * (1 + 1e-9));
    CHECK(best.at_least <= best.seconds * (1 + 1e-9));
    if (!full_host && seconds_within(plan, pools, bytes) < never) CHECK(best.seconds < never);
    counts.faster += best.seconds < with_less * (1 - 1e-9) ? 1 : 0;
    with_less = best.seconds;
    ++(best.seconds < never ? counts.fit : counts.refused);
    if (best.seconds == never) continue;
    Plan changed = plan;
    const bool has_limits = best.limits != LimitedRun::Limits(pools.size(), LimitedRun::none);
    CHECK(keep_within(best, changed, pools).empty() != (best.in_turn || has_limits));
    CHECK(replay(changed).makespan == Approx(best.seconds).epsilon(1e-9));
    counts.in_turn += best.in_turn ? 1 : 0;
    counts.limited += has_limits ? 1 : 0;
    // With `worth`, runs that take longer are not needed.
    CHECK(fastest_within(plan, pools, {.worth = best.seconds * 1.01}).seconds == best.seconds);
  }
}

TEST_CASE(
    "with 8 rising sizes of both memories, placed plans are never slower, and what fits is never "
    "refused",
    "[placement][property]") {
  Counts counts;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const auto [plan, pools] = PlacedAtRandom(dice, random_training(dice, 1, 2));
    check_sizes(plan, pools, dice, counts);
  }
  CHECK(counts.fit > 100);
  CHECK(counts.refused > 20);
  CHECK(counts.faster > 50);
  CHECK(counts.limited > 20);
  CHECK(counts.in_turn > 20);
}

TEST_CASE(
    "with 8 rising sizes of both memories, placed plans of many actions are never slower, and what "
    "fits is never refused",
    "[placement][property]") {
  Counts counts;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    const auto [plan, pools] = PlacedAtRandom(dice, random_training(dice, 12, 16));
    if (plan.body_end - plan.body_begin > 100) check_sizes(plan, pools, dice, counts);
  }
  CHECK(counts.fit > 20);
  CHECK(counts.faster > 10);
}

/// Makes host memory so small that the offloaded activations of a batch do not fit at once. Returns whether there are
/// such activations.
bool fill_host(Plan& plan, Dice& dice) {
  const auto host = std::ranges::find(plan.pools, "host", &Pool::name);
  REQUIRE(host != plan.pools.end());
  const auto number = static_cast<std::uint32_t>(host - plan.pools.begin());
  const ReplayResult whole = replay(plan, ReplayOptions{.unlimited = true});
  std::int64_t held = 0;
  for (const Tensor& tensor : plan.tensors) held += tensor.home == number ? tensor.bytes : 0;
  const std::int64_t offloaded = whole.peaks[number] - held;
  host->enforced = true;
  host->capacity =
      held + static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(offloaded + 1)));
  return offloaded > 0 && host_may_be_full(plan);
}

TEST_CASE(
    "if host memory is full, placed plans are never slower or refused with 8 rising sizes of both "
    "memories",
    "[placement][property]") {
  Counts counts;
  int full = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{40}); ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    auto [plan, pools] = PlacedAtRandom(dice, random_training(dice, 2, 4));
    if (!fill_host(plan, dice)) continue;
    check_sizes(plan, pools, dice, counts, /*full_host=*/true);
    ++full;
  }
  CHECK(full > 20);
  CHECK(counts.fit > 20);
  CHECK(counts.faster > 5);
}

TEST_CASE("the limits of memory do not depend on a plan", "[placement]") {
  CHECK(listed_limit(no_limit, LimitList::few) == no_limit);
  CHECK(listed_limit(-1, LimitList::few) == 0);
  CHECK(listed_limit(9, LimitList::few) == 9);
  CHECK(listed_limit(17'999, LimitList::few) == 16'000);
  CHECK(listed_limit(16'000'000'000, LimitList::few) == 16'000'000'000);
  CHECK(listed_limit(15'999'999'999, LimitList::few) == 15'000'000'000);
  CHECK(listed_limit(17'999, LimitList::many) == 17'900);
  for (const LimitList list : {LimitList::few, LimitList::many})
    for (std::int64_t bytes = 1; bytes < 20'000; ++bytes) {
      const std::int64_t limit = listed_limit(bytes, list);
      REQUIRE(limit <= bytes);
      REQUIRE(limit * 8 >= bytes * 7);
      REQUIRE(listed_limit(limit, list) == limit);
    }
}

}  // namespace
}  // namespace sluice
