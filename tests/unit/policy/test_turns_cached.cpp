// The placement `cached` under policy streamed: all tensors are in the second memory, and the first memory is a
// hardware cache of it.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/cached_turns.hpp"
#include "policy/policy.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;
using test::Dice;
using test::number;
using test::on_card;

/// Returns the seconds of the run. Both executors must give the same seconds.
double seconds_of(const Scenario& scenario) {
  return test::seconds_in_both_executors(make_plan(scenario));
}

double number_in(const Plan& plan, const char* fact) {
  return find_fact(plan.facts, fact)->number()->value;
}

std::string one_by_one(const std::string& placement) {
  return "policy: {name: streamed, placement: " + placement +
         ", in_flight: 1, prefetch: 0, pieces: whole, resident: none, overlap: false}\n"
         "workload: {batch: 1, steps: 3}\n";
}

// In each step of one_by_one(), the transfers take 80 + 40 s for the weights, 4 s for the input and 2 s for the answer.
// Without misses, the products take 9.2 s and 5 s. Misses and write-backs have 10 byte/s. The input has the addresses 0
// to 39, the weights of the first product 40 to 839, and the tensor between the products 840 to 919. The input and
// these weights are freed. Then the weights of the second product have the addresses 0 to 399, and the answer 400 to
// 419.

TEST_CASE("under streamed, what was loaded misses a hardware cache, and what was made hits it",
          "[placement]") {
  const Scenario scenario = on_card(920, 2000, one_by_one("cached"));
  // The cache holds all addresses. The input and the weights come from host memory, so they miss: 840 bytes in the
  // first product, and 400 bytes in the second product. The other tensors are where they were in the step before.
  CHECK(seconds_of(scenario) == Approx(3 * (126 + 9.2 + 84 + 5 + 40)).epsilon(1e-9));
  const Plan plan = make_plan(scenario);
  CHECK(find_fact(plan.facts, "placement")->shown() == "cached");
  CHECK(number_in(plan, "cache_bytes") == 920);
  CHECK(number_in(plan, "cache_miss_bytes") == 40 + 800 + 400);
  CHECK(number_in(plan, "cache_hit_bytes") == 80 + 80 + 20);
  CHECK(number_in(plan, "cache_written_back_bytes") == 0);
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu")->number()->value == 0);
}

TEST_CASE("under streamed without a hardware cache of any size, all bytes miss", "[placement]") {
  // A sixteenth of the 920 addresses does not fit into the first memory. The first product reads 840 bytes and writes
  // 80 bytes. The second product reads 480 bytes and writes 20 bytes. A written byte is also written back.
  CHECK(seconds_of(on_card(57, 2000, one_by_one("cached"))) <
        3 * (126 + 9.2 + 92 + 8 + 5 + 50 + 2));
  CHECK(seconds_of(on_card(56, 2000, one_by_one("cached"))) ==
        Approx(3 * (126 + 9.2 + 92 + 8 + 5 + 50 + 2)).epsilon(1e-9));
}

/// The plan of one_by_one() with a hardware cache, whatever the size of the first memory is.
struct CachedPlan {
  explicit CachedPlan(Scenario asked)
      : scenario(std::move(asked)),
        planned(plan_scenario(scenario)),
        request(request_of(scenario, planned.cut, scenario.fates)),
        prices(request, {"gpu"}),
        placed(prices, planned.plan, /*in_turn=*/true),
        cached(prices, placed) {}

  Scenario scenario;
  PlannedScenario planned;
  PolicyRequest request;
  PlacedPrices prices;
  PlacedKinds placed;
  CachedTurns cached;
};

/// Returns what happens in a round at the cache, if it has this size.
const CachedMemory::Round& round_of(const CachedPlan& of, std::int64_t bytes) {
  return of.cached.round(0, bytes);
}
/// Returns the same for a cache that holds all addresses.
const CachedMemory::Round& largest_round_of(const CachedPlan& of) {
  return round_of(of, of.cached.sizes().front().front());
}

/// Returns the seconds that the action with this name takes in a round, with a cache of this size.
double seconds_in(const CachedPlan& of, std::int64_t bytes, const std::string& name) {
  const std::vector<double> kernel_s = of.cached.kernel_seconds({bytes});
  for (std::size_t a = 0; a < of.planned.plan.actions.size(); ++a)
    if (name_of(of.planned.plan.actions[a]) == name) return kernel_s[a];
  FAIL("no action " << name);
  return 0;
}

TEST_CASE("under streamed, tensors evict each other from a small hardware cache", "[placement]") {
  const CachedPlan of(on_card(2000, 2000, one_by_one("none")));
  CHECK(of.cached.sizes().front() == CacheSizes{920});
  CHECK(of.cached.sizes()[8] == CacheSizes{460});
  CHECK(of.cached.sizes().back() == CacheSizes{0});
  // Bytes whose addresses differ by 460 are in the same place of the cache. In each step, the first product reads the
  // input and its weights, and then writes the tensor between the products. All of them miss. The last 40 bytes of the
  // place of this tensor still hold what was written in the step before: they are written back.
  const CachedMemory::Round& round = round_of(of, 460);
  CHECK(seconds_in(of, 460, "0F0") == Approx(9.2 + 92 + 4).epsilon(1e-9));
  // The second product finds the tensor between the products in the cache. Then its weights replace the first 20 bytes
  // of this tensor, and the answer replaces the next 20 bytes: these are written back.
  CHECK(seconds_in(of, 460, "1F0") == Approx(5 + 42 + 4).epsilon(1e-9));
  CHECK(round.hit_bytes == 80);
  CHECK(round.miss_bytes == 40 + 800 + 80 + 400 + 20);
  CHECK(round.written_back_bytes == 40 + 20 + 20);
}

/// Returns the same run with one iteration of the body less. The epilogue has the actions of this iteration. The plan
/// must have no epilogue, and no action may work for another iteration.
Plan with_last_round_in_epilogue(Plan plan) {
  const std::uint32_t count = plan.body_end - plan.body_begin;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    Action action = plan.actions[a];
    for (Wait& wait : action.waits)
      if (wait.action >= plan.body_begin)
        wait.distance == 0 ? wait.action += count : --wait.distance;
    plan.actions.push_back(std::move(action));
  }
  --plan.iterations;
  return plan;
}

TEST_CASE("computations of an epilogue miss a hardware cache like those of a round",
          "[placement]") {
  CachedPlan of(on_card(2000, 2000, one_by_one("none")));
  const Plan& plan = of.planned.plan;
  const PlacedKinds placed(of.prices, with_last_round_in_epilogue(plan), true);
  const CachedTurns cached(of.prices, placed);
  const std::uint32_t count = plan.body_end - plan.body_begin;
  for (const CacheSizes& sizes : of.cached.sizes()) {
    const std::vector<double> rounds = of.cached.kernel_seconds(sizes),
                              with_epilogue = cached.kernel_seconds(sizes);
    for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
      CHECK(with_epilogue[a + count] == Approx(rounds[a]).epsilon(1e-12));
  }
}

TEST_CASE("under streamed, weights that stay hit a hardware cache that holds everything",
          "[placement]") {
  const CachedPlan of(
      on_card(2000, 2000,
              "policy: {name: streamed, placement: none, in_flight: 1, prefetch: 0, "
              "pieces: whole, resident: all, overlap: false}\n"
              "workload: {batch: 1, steps: 3}\n"));
  // Only the input comes from host memory in each step.
  const CachedMemory::Round& round = largest_round_of(of);
  CHECK(round.miss_bytes == 40);
  CHECK(round.hit_bytes == 800 + 80 + 80 + 400 + 20);
}

TEST_CASE("under streamed, every micro-batch of a load reads the weights through the cache",
          "[placement]") {
  const CachedPlan of(
      on_card(4000, 4000,
              "policy: {name: streamed, placement: none, in_flight: 4, prefetch: 0, "
              "pieces: whole, resident: none, overlap: false}\n"
              "workload: {batch: 1, batches_per_step: 4, steps: 3}\n"));
  const CachedMemory::Round& round = largest_round_of(of);
  // The first of four micro-batches misses the weights, and the other three find them in the cache.
  CHECK(round.miss_bytes == 4 * 40 + 800 + 400);
  CHECK(round.hit_bytes == 3 * (800 + 400) + 4 * (80 + 80 + 20));
}

TEST_CASE("under streamed, updates write weights and gradients add up in a hardware cache",
          "[placement][training]") {
  const CachedPlan of(on_card(9000, 9000,
                              "policy: {name: streamed, placement: none, in_flight: 1, overlap: "
                              "false}\nfates: keep_all\n"
                              "workload: {mode: training, batch: 1, steps: 3, backward: per_layer, "
                              "optimizer: sgd}\n"));
  const CachedMemory::Round& large = largest_round_of(of);
  // Loaded in each step: the input, the weights of the first product twice, and those of the second product once.
  CHECK(large.miss_bytes == 40 + 2 * 800 + 400);
  CHECK(large.written_back_bytes == 0);
  // Without a cache, each byte that is written is also written back: two outputs (80 and 20 bytes), their gradients,
  // the gradients of the weights, and the updated weights.
  const CachedMemory::Round& none = round_of(of, 0);
  CHECK(none.hit_bytes == 0);
  CHECK(none.written_back_bytes == 2 * (80 + 20) + 1200 + 1200);
}

TEST_CASE("under streamed, a hardware cache that is not possible is refused", "[placement]") {
  Value document = on_card(1000, 2000, one_by_one("cached")).document;
  apply_overrides(document, {"platform.devices.gpu.memory={capacity: 1kB, bandwidth: 100B/s}",
                             "platform.links={host: {joins: [host, gpu], bandwidth: 10B/s}}"});
  CHECK_THROWS_WITH(make_plan(read_scenario(document, "card")),
                    Contains("'placement: cached' needs a device with a second memory of its own"));
  CHECK_THROWS_WITH(make_plan(on_card(1000, 300, one_by_one("cached"))),
                    Contains("no plan with placement cached fits"));
}

TEST_CASE("under streamed with a hardware cache, more memory is never slower, and bounds hold",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    Dice dice(seed);
    std::string text = test::random_card(dice) + "stages: per_layer\nfates: keep_all\n";
    const bool trains = dice.one_in(3);
    text += "workload: {batch: " + number(dice, 1, 3) +
            ", batches_per_step: " + number(dice, 1, 3) + ", steps: " + number(dice, 1, 3) +
            (trains ? ", mode: training, micro_batch: 1" : "") +
            "}\npolicy: {name: streamed, placement: cached, in_flight: 1" +
            (dice.one_in(3) ? ", overlap: false" : "") + "}\n";
    const Scenario scenario = read_scenario(parse_text(text, "card.yaml"), "card");
    double before = never;
    for (const std::uint64_t first : {100U, 400U, 1600U}) {
      INFO("seed " << seed << ", " << first << " bytes");
      Value document = scenario.document;
      apply_overrides(document,
                      {"platform.devices.gpu.memory.0.capacity=" + std::to_string(first) + "B"});
      double seconds = never;
      try {
        seconds = replay(make_plan(read_scenario(document, "card"))).makespan;
        ++runs;
      } catch (const Infeasible&) {
      }
      CHECK(seconds <= before * (1 + 1e-9));
      before = seconds;
    }
    for (const CutModel& cut : cut_models(scenario)) {
      const PolicyRequest request = request_of(scenario, cut, scenario.fates);
      const std::vector<Candidate> candidates =
          scenario.policy->candidates(request, scenario.policy.keys.reader());
      for (const Candidate& one : candidates.back().open())
        one.simulate(never,
                     [&](const Settled& settled) { CHECK(one.at_least <= settled.seconds); });
    }
  }
  CHECK(runs > 15);
}

}  // namespace
}  // namespace sluice
