// The placement `first_touch` under policy streamed: kinds of tensors go to the first memory in the order of their
// first use, while it has room.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/first_touch.hpp"
#include "policy/policy.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::number;
using test::on_card;

/// Returns the seconds of the run. Both executors must give the same seconds.
double seconds_of(const Scenario& scenario) {
  return test::seconds_in_both_executors(make_plan(scenario));
}

std::string one_by_one(const std::string& more) {
  return "policy: {name: streamed, placement: first_touch, in_flight: 1, overlap: false" + more;
}

TEST_CASE("under streamed, first_touch fills the first memory in the order of the first uses",
          "[placement]") {
  const auto seconds = [](std::int64_t first) {
    return seconds_of(on_card(first, 2000,
                              one_by_one(", prefetch: 0, pieces: whole, resident: none}\n"
                                         "workload: {batch: 1, steps: 3}\n")));
  };
  // In each step, the transfers take 80 + 40 s for the weights, 4 s for the input and 2 s for the answer. The first
  // product reads the input (40 bytes) and weights (800 bytes), and writes 80 bytes. The second product reads these 80
  // bytes and weights (400 bytes), and writes 20 bytes. The first memory has 100 byte/s, and the second 10 byte/s.
  CHECK(seconds(920) == Approx(3 * (126 + 9.2 + 5)).epsilon(1e-9));
  // The tensor between the products is the third tensor that is used. With one byte less, it has no room beside the
  // input and the first weights, although it would be better to leave out the input. The second weights come when the
  // first weights have left.
  CHECK(seconds(919) == Approx(3 * (126 + 8.4 + 8 + 8 + 4.2)).epsilon(1e-9));
  CHECK(seconds(840) == Approx(3 * (126 + 8.4 + 8 + 8 + 4.2)).epsilon(1e-9));
  // The first weights do not fit beside the input.
  CHECK(seconds(500) == Approx(3 * (126 + 80 + 1.2 + 5)).epsilon(1e-9));
  // The answer has no room beside the second weights (400 bytes) and the tensor between the products.
  CHECK(seconds(499) == Approx(3 * (126 + 80 + 1.2 + 2 + 4.8)).epsilon(1e-9));
  // With 10 bytes, nothing fits.
  CHECK(seconds(10) == Approx(3 * (126 + 92 + 50)).epsilon(1e-9));
}

TEST_CASE("under streamed, first_touch says which bytes are in which memory", "[placement]") {
  const Plan plan = make_plan(on_card(919, 2000,
                                      one_by_one(", prefetch: 0, pieces: whole, resident: none}\n"
                                                 "workload: {batch: 1, steps: 3}\n")));
  CHECK(find_fact(plan.facts, "placement")->shown() == "first_touch");
  // Only the tensor between the products is in the second memory.
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu_ddr")->number()->value == 80);
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu")->number()->value == 40 + 800 + 400 + 20);
}

TEST_CASE("under streamed, first_touch in training leaves out what comes last",
          "[placement][training]") {
  const auto plan = [](std::int64_t first) {
    return make_plan(on_card(first, 9000,
                             one_by_one("}\nfates: keep_all\n"
                                        "workload: {mode: training, batch: 1, steps: 3, "
                                        "backward: per_layer, optimizer: sgd}\n")));
  };
  const auto slow_bytes = [](const Plan& made) {
    return find_fact(made.facts, "placed_bytes", "gpu_ddr")->number()->value;
  };
  // The backward pass of the first product needs the most bytes: 40 + 800 + 80 + 800 = 1720. The gradients are touched
  // last. So if one byte is missing, all gradients are in the second memory: 80 bytes between the products, and 800 and
  // 400 bytes for the weights.
  CHECK(slow_bytes(plan(1720)) == 0);
  CHECK(slow_bytes(plan(1719)) == 80 + 800 + 400);
  // Kernels write and read the gradients at a tenth of the rate. In each step, these are 800 + 400 bytes in backward
  // passes, as many in updates, and 80 bytes twice.
  CHECK(seconds_of(on_card(1719, 9000,
                           one_by_one("}\nfates: keep_all\n"
                                      "workload: {mode: training, batch: 1, steps: 3, "
                                      "backward: per_layer, optimizer: sgd}\n"))) ==
        Approx(replay(plan(1720)).makespan + 3 * (2400 + 160) * (0.1 - 0.01)).epsilon(1e-9));
}

TEST_CASE("first_touch tries each placement once, and only those that fit", "[placement]") {
  // Weights a are loaded, used and freed. Then weights b are loaded, used and freed.
  Plan plan;
  plan.pools = {{.name = "fast"}, {.name = "slow"}};
  plan.streams = {{.name = "s"}};
  plan.tensors = {{"cache", TensorClass::kv_cache, 10, 0},
                  {"a", TensorClass::weight, 50, none},
                  {"b", TensorClass::weight, 30, none}};
  for (const std::uint32_t t : {1U, 2U}) {
    Action action;
    action.stream = 0;
    action.seconds = 1;
    action.stage = static_cast<std::int32_t>(t);
    action.allocates = {{t, 0}};
    action.uses = {{t, 0}};
    plan.actions.push_back(action);
  }
  plan.body_end = 2;
  plan.iterations = 5;
  const TensorKind cache{TensorClass::kv_cache}, a{TensorClass::weight, 1},
      b{TensorClass::weight, 2};
  // The groups are listed in the order of their seconds per byte.
  const KindGroups kinds = {{{b}, {a}, {cache}}, [](const Placement& one) {
                              return std::optional<std::size_t>(2 - one.tensor);
                            }};
  const auto first_touch_placements = [&](const std::vector<FirstMemory>& firsts) {
    return filled_placements(plan, firsts, kinds, FillOrder::first_use);
  };
  CHECK(first_touch_placements({{0}}) == std::vector<TensorKinds>{{}, {a}, {a, b}, {cache, a, b}});
  // With 40 bytes, the cache and b fit together.
  CHECK(first_touch_placements({{0, 40}}) == std::vector<TensorKinds>{{a}, {a, b}, {cache, a, b}});
  CHECK(first_touch_placements({{0, 39}}) == std::vector<TensorKinds>{{a, b}, {cache, a, b}});
  // In the order of the list, b comes first, then a, and then the cache.
  const auto listed = [&](const std::vector<FirstMemory>& firsts) {
    return filled_placements(plan, firsts, kinds, FillOrder::listed);
  };
  CHECK(listed({{0}}) ==
        std::vector<TensorKinds>{{}, {cache}, {a}, {cache, a}, {a, b}, {cache, a, b}});
  // The seconds per byte are 1/30 for b, 10/50 for a, and 1/10 for the cache.
  KindGroups saving = kinds;
  saving.saved_s = {1, 10, 1};
  CHECK(filled_placements(plan, {{0}}, saving, FillOrder::seconds_per_byte) ==
        std::vector<TensorKinds>{{}, {cache}, {a}, {a, b}, {cache, a, b}});
  // Another first memory holds b. The greatest number of bytes in one of them is 60, for the cache and a.
  plan.pools.push_back({.name = "other"});
  plan.actions[1].allocates = {{2, 2}};
  plan.actions[1].uses = {{2, 2}};
  CHECK(first_touch_placements({{0}, {2}}) ==
        std::vector<TensorKinds>{{}, {a}, {a, b}, {cache, a, b}});
  CHECK(first_touch_placements({{0, 60}, {2, 29}}) ==
        std::vector<TensorKinds>{{a, b}, {cache, a, b}});
  CHECK(listed({{0}, {2}}) == std::vector<TensorKinds>{{}, {cache}, {a}, {a, b}, {cache, a, b}});
}

TEST_CASE("under streamed, first_touch is never slower with more memory, nor faster than static",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{8}); ++seed) {
    Dice dice(seed);
    const bool trains = dice.one_in(3);
    const std::string more =
        "fates: keep_all\n"
        "workload: {batch: " +
        number(dice, 1, 3) + ", steps: " + number(dice, 1, 3) +
        (trains ? ", mode: training, micro_batch: 1" : "") + "}\n";
    const auto with = [&](std::int64_t first, const std::string& placement) {
      try {
        return replay(make_plan(on_card(first, 2000,
                                        "policy: {name: streamed, in_flight: 1, placement: " +
                                            placement + "}\n" + more)))
            .makespan;
      } catch (const Infeasible&) {
        return never;
      }
    };
    double before = never;
    std::int64_t first = 50;
    for (int n = 0; n < 4; ++n) {
      first += 1 + static_cast<std::int64_t>(dice.below(800));
      INFO("seed " << seed << ", " << first << " bytes");
      const double seconds = with(first, "first_touch");
      CHECK(seconds <= before * (1 + 1e-9));
      CHECK(with(first, "static") <= seconds * (1 + 1e-9));
      before = seconds;
      runs += seconds < never ? 1 : 0;
    }
  }
  CHECK(runs > 15);
}

}  // namespace
}  // namespace sluice
