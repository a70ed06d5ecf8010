// The placements `synchronous` and `asynchronous` under policies streamed and phased: tensors of the first memory wait in
// the second memory between two computations that use them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/moved_weights.hpp"
#include "planning/placement/turns/waiting_tensors.hpp"
#include "policy/policy.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/placement_freedom.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::number;
using test::on_card;
using test::seconds_in_both_executors;

/// Training of three products on the card of two_memory_card.hpp. Their weights have 800, 1600 and 400 bytes. The tensors
/// between them have 80 bytes.
Scenario three_products(const std::string& placement, std::int64_t first, const std::string& host,
                        const std::string& policy) {
  Value document =
      on_card(first, 9000,
              "policy: {name: streamed, placement: " + placement + ", in_flight: 1" + policy +
                  "}\nfates: keep_all\n"
                  "workload: {mode: training, batch: 1, steps: 3, backward: per_layer, "
                  "optimizer: sgd}\n")
          .document;
  std::string layers = "[{type: input, name: x, shape: [10]}";
  for (const auto& [name, features] : {std::pair("a", "20"), {"b", "20"}, {"c", "5"}})
    layers +=
        std::string(", {type: dense, name: ") + name + ", features: " + features + ", bias: false}";
  apply_overrides(document, {"model.definition.layers=" + layers + "]",
                             "platform.links.host.bandwidth=" + host});
  return read_scenario(document, "card");
}

// In each step, 2800 bytes of weights are loaded for the forward passes, and 2400 bytes again for the backward passes.
// The input has 40 bytes, and the updated weights 2800 bytes.
constexpr double copies_s = (2800 + 2400 + 40 + 2800) / 10.0;
// The kernels read and write these bytes in each step.
//   Forward passes: 40 + 800 + 80 (input, weights, output), 80 + 1600 + 80, and 80 + 400 + 20.
//   Backward pass of c: 80 + 400 + 20 (input, weights, gradient of the output), and 80 + 400 (gradients of the input and
//   of the weights). Of b: 80 + 1600 + 80, and 80 + 1600. Of a: 40 + 800 + 80, and 800.
//   Updates: weights are read and written, and their gradients are read.
constexpr double kernels_s = (920 + 1760 + 500 + 980 + 3440 + 1720 + 3 * 2800) / 100.0;

TEST_CASE("under streamed, an input waits in the second memory between its two passes",
          "[placement][training]") {
  const auto seconds = [](const std::string& placement, std::int64_t first) {
    return seconds_in_both_executors(
        make_plan(three_products(placement, first, "10B/s", ", overlap: false")));
  };
  // The backward pass of b needs the most bytes: 1600 for its weights, as many for their gradient, and 80 each for its
  // input and the two gradients. Meanwhile, the input of the model waits for the backward pass of a: 40 bytes.
  CHECK(seconds("static", 3480) == Approx(3 * (copies_s + kernels_s)).epsilon(1e-9));
  CHECK(seconds("synchronous", 3480) == Approx(3 * (copies_s + kernels_s)).epsilon(1e-9));
  // If the first memory has fewer bytes, a placement without moves has the input in the second memory. Two passes read it
  // there, in 4 s instead of 0.4 s.
  CHECK(seconds("static", 3440) == Approx(3 * (copies_s + kernels_s + 2 * 3.6)).epsilon(1e-9));
  // With moves, the input is copied to the second memory and back, in 0.4 s each.
  CHECK(seconds("synchronous", 3440) == Approx(3 * (copies_s + kernels_s + 0.8)).epsilon(1e-9));
  CHECK(seconds("asynchronous", 3440) == Approx(3 * (copies_s + kernels_s + 0.8)).epsilon(1e-9));
}

TEST_CASE("under streamed, the answer says how many bytes of waiting tensors move in a round",
          "[placement][training]") {
  const Plan plan = make_plan(three_products("synchronous", 3440, "10B/s", ", overlap: false"));
  CHECK(find_fact(plan.facts, "placement")->shown() == "synchronous");
  CHECK(find_fact(plan.facts, "moved_bytes", "to gpu")->number()->value == 40);
  CHECK(find_fact(plan.facts, "moved_bytes", "to gpu_ddr")->number()->value == 40);
}

/// A plan of the policy, and what is needed to place its tensors.
struct Placed {
  Placed(Scenario asked, const std::vector<std::string>& devices)
      : scenario(std::move(asked)),
        planned(plan_scenario(scenario)),
        in_turn(scenario.policy.keys.map().find("overlap") != nullptr),
        request(request_of(scenario, planned.cut, scenario.fates)),
        prices(request, devices),
        kinds(prices, planned.plan, in_turn) {}

  /// Returns the plan in which all tensors wait that can wait. Adds how many gaps there are.
  Plan all_wait(const Plan& base, CopyMode mode, std::size_t* gaps = nullptr) {
    const WaitingGaps found(prices, kinds, base, mode);
    if (gaps) *gaps += found.all().size();
    return with_waiting(base, prices, kinds, found.all(), mode, in_turn);
  }

  Scenario scenario;
  PlannedScenario planned;
  bool in_turn;
  PolicyRequest request;
  PlacedPrices prices;
  PlacedKinds kinds;
};

TEST_CASE("under streamed, activations and gradients of training wait in the second memory",
          "[placement][training]") {
  Placed of(three_products("none", 9000, "10B/s", ", overlap: false"), {"gpu"});
  const Plan base = of.kinds.plan({});
  // Other computations run between the two passes of a that read the input, between the passes of b that read its input,
  // and between the passes that make and read each of the two gradients: there, an update.
  std::size_t gaps = 0;
  const Plan plan = of.all_wait(base, CopyMode::synchronous, &gaps);
  CHECK(gaps == 4);
  CHECK(seconds_in_both_executors(base) == Approx(3 * (copies_s + kernels_s)).epsilon(1e-9));
  // 40 + 3 x 80 bytes are copied to the second memory and back.
  CHECK(seconds_in_both_executors(plan) ==
        Approx(3 * (copies_s + kernels_s + 2 * 2.8)).epsilon(1e-9));
  CHECK(replay(base).peaks[of.kinds.first_pool()] == 3480);
  CHECK(replay(plan).peaks[of.kinds.first_pool()] == 3440);
  // In the second memory are at most the input, and the tensor between a and b or a gradient.
  CHECK(replay(plan).peaks[of.kinds.second_pool()] == 40 + 80 + 80);
}

TEST_CASE("under streamed, computations hide the asynchronous moves of waiting tensors",
          "[placement][training]") {
  Placed of(three_products("none", 9000, "1GB/s", ""), {"gpu"});
  const Plan base = of.kinds.plan({});
  // Only an update runs between the passes that make and read a gradient. A gradient would have to come back while this
  // update runs, so it does not wait. All copies are faster than the computations beside them.
  std::size_t gaps = 0;
  const Plan plan = of.all_wait(base, CopyMode::asynchronous, &gaps);
  CHECK(gaps == 2);
  CHECK(seconds_in_both_executors(plan) == Approx(seconds_in_both_executors(base)).epsilon(1e-9));
  CHECK(seconds_in_both_executors(plan) == Approx(3 * kernels_s).epsilon(1e-6));
  // With synchronous moves, nothing is computed meanwhile.
  CHECK(seconds_in_both_executors(of.all_wait(base, CopyMode::synchronous)) ==
        Approx(3 * (kernels_s + 2 * 2.8)).epsilon(1e-6));
}

TEST_CASE("gradients and optimizer state that stay on the device wait until their next use",
          "[placement][training]") {
  Placed of(on_card(9000, 9000,
                    "policy: {name: resident, placement: none, overlap: false}\nfates: keep_all\n"
                    "workload: {mode: training, batch: 1, steps: 3, backward: per_layer, "
                    "optimizer: adam}\n"),
            {"gpu"});
  const Plan base = of.kinds.plan({});
  std::size_t gaps = 0;
  const Plan plan = of.all_wait(base, CopyMode::synchronous, &gaps);
  // The input waits between its two passes, and the gradients (800 and 400 bytes) and the states of the optimizer (1600
  // and 800 bytes) wait from their update to their next use. In each step, all of them move to the second memory and back.
  CHECK(gaps == 5);
  CHECK(seconds_in_both_executors(plan) ==
        Approx(seconds_in_both_executors(base) + 3 * 2 * (40 + 800 + 400 + 1600 + 800) / 100.0)
            .epsilon(1e-9));
  // Without moves, all weights, gradients and states are in the first memory during the whole run.
  CHECK(replay(base).peaks[of.kinds.first_pool()] >= 1200 + 1200 + 2400);
  // With moves, the update of the first product needs the most: all weights, and its own gradients and state.
  CHECK(replay(plan).peaks[of.kinds.first_pool()] == 1200 + 800 + 1600);
}

/// A random card whose copies between its two memories are fast. Its policy is streamed.
Scenario random_waiting(std::uint64_t seed) {
  Dice dice(seed);
  std::string text = test::random_card(dice) + "stages: per_layer\n";
  const bool trains = !dice.one_in(3);
  text += "workload: {batch: " + number(dice, 1, 3) + ", batches_per_step: " + number(dice, 1, 3) +
          ", steps: " + number(dice, 1, 4);
  if (trains)
    text += ", mode: training, micro_batch: 1, optimizer: " +
            std::string(dice.one_in(2) ? "adam" : "sgd") +
            (dice.one_in(2) ? ", backward: per_layer" : "") +
            (dice.one_in(4) ? ", split_backward: true" : "");
  text += "}\n";
  if (trains)
    text += "fates: " +
            std::vector<std::string>{"keep_all", "keep_all", "checkpoint", "offload_all",
                                     "recompute_all"}[dice.below(5)] +
            "\n";
  text += std::string("policy: {name: streamed, placement: none") +
          (dice.one_in(3) ? ", overlap: false" : "") + "}\n";
  Value document = parse_text(text, "card.yaml");
  if (dice.one_in(2)) apply_overrides(document, {"platform.links.far.bandwidth=400B/s"});
  return read_scenario(document, "card");
}

/// Returns the name of a tensor without the parts that tell its copies apart.
std::string origin(const std::string& name) {
  return name.substr(0, std::min(name.find(".back."), name.find(".away.")));
}

/// Returns, by name, the tensors that each computation uses or makes in this pool.
std::map<std::string, std::multiset<std::string>> operands(const Plan& plan, std::uint32_t pool) {
  std::map<std::string, std::multiset<std::string>> all;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    const Action& action = plan.actions[a];
    if (action.is_transfer()) continue;
    auto& of = all[name_of(action)];
    for (const Access& use : action.uses)
      if (use.pool == pool) of.insert(origin(plan.tensors[use.tensor].name));
    for (const Placement& made : action.allocates)
      if (made.pool == pool) of.insert(origin(plan.tensors[made.tensor].name));
  }
  return all;
}

/// Checks that each move runs after the computation that used the tensor last, and before the computation that uses it
/// next. With CopyMode::synchronous, checks that nothing else runs during a move.
void check_moves(const Plan& plan, CopyMode mode, int& moves) {
  std::vector<std::vector<Executed>> all(plan.actions.size());
  replay(plan, [&](const Executed& span) { all[span.action].push_back(span); });
  for (std::uint32_t m = plan.body_begin; m < plan.body_end; ++m) {
    const Action& move = plan.actions[m];
    if (move.kind != ActionKind::move) continue;
    ++moves;
    const std::string tensor = move.name.substr(move.name.find('.', 5) + 1);
    const auto uses = [&](const Action& action) {
      return !action.is_transfer() && std::ranges::any_of(action.uses, [&](const Access& use) {
        return origin(plan.tensors[use.tensor].name) == tensor;
      });
    };
    for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
      const bool computes = !plan.actions[a].is_transfer(), used = uses(plan.actions[a]);
      if (!computes &&
          (mode == CopyMode::asynchronous || a == m || plan.actions[a].kind != ActionKind::move))
        continue;
      for (const Executed& moved : all[m])
        for (const Executed& span : all[a]) {
          const bool apart = moved.end <= span.start + 1e-9 || span.end <= moved.start + 1e-9;
          if (mode == CopyMode::synchronous) CHECK(apart);
          if (used && span.iteration == moved.iteration)
            CHECK((a < m ? span.end <= moved.start + 1e-9 : moved.end <= span.start + 1e-9));
        }
    }
  }
}

TEST_CASE("under streamed, computations find tensors that have waited in the first memory",
          "[placement][property]") {
  int moves = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    Scenario scenario = random_waiting(seed);
    scenario.capacity_enforced = false;
    Placed of(std::move(scenario), {"gpu"});
    const std::uint32_t first = of.kinds.first_pool();
    Dice dice(seed);
    TensorKinds slow;
    for (const TensorKind& kind : of.kinds.kinds())
      if (dice.one_in(3)) slow.insert(kind);
    const Plan base = of.kinds.plan(slow);
    for (const CopyMode mode : {CopyMode::synchronous, CopyMode::asynchronous}) {
      if (of.in_turn && mode == CopyMode::asynchronous) continue;
      INFO("seed " << seed);
      const Plan plan = of.all_wait(base, mode);
      seconds_in_both_executors(plan);
      const auto before = operands(base, first), after = operands(plan, first);
      for (const auto& [name, tensors] : before)
        for (const std::string& tensor : tensors) CHECK(after.at(name).count(tensor) > 0);
      check_moves(plan, mode, moves);
    }
  }
  CHECK(moves > 200);
}

TEST_CASE("under streamed, no placed plan with waiting tensors is faster than its bounds",
          "[placement][property]") {
  int runs = 0, smaller = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{150}); ++seed) {
    Scenario scenario = random_waiting(seed);
    scenario.capacity_enforced = false;
    Placed of(std::move(scenario), {"gpu"});
    const MovedWeights weights(of.prices, of.kinds);
    Dice dice(seed);
    TensorKinds slow;
    for (const TensorKind& kind : of.kinds.kinds())
      if (dice.one_in(2)) slow.insert(kind);
    const TensorKinds moved = dice.one_in(2) ? weights.movable(slow) : TensorKinds();
    for (const CopyMode mode : {CopyMode::synchronous, CopyMode::asynchronous}) {
      if (of.in_turn && mode == CopyMode::asynchronous) continue;
      Plan base = of.kinds.plan(slow);
      if (!moved.empty()) base = weights.with_moves(std::move(base), slow, moved, mode);
      const double least =
          moved.empty() ? of.kinds.seconds_at_least(slow) : weights.at_least(slow, moved, mode);
      const WaitingGaps gaps(of.prices, of.kinds, base, mode);
      const std::uint32_t first = of.kinds.first_pool();
      std::int64_t before = replay(base).peaks[first];
      for (const WaitingGaps::Choice& choice : gaps.choices()) {
        INFO("seed " << seed << ", " << choice.gaps.size() << " gaps");
        std::vector<WaitingGap> chosen;
        for (const std::size_t g : choice.gaps) chosen.push_back(gaps.all()[g]);
        const Plan plan = with_waiting(base, of.prices, of.kinds, chosen, mode, of.in_turn);
        check(plan);
        const ReplayResult run = replay(plan);
        CHECK(least <= run.makespan);
        CHECK(busy_seconds(plan, mode) <= run.makespan);
        smaller += run.peaks[first] < before ? 1 : 0;
        ++runs;
      }
    }
  }
  CHECK(runs > 60);
  CHECK(smaller > runs / 4);
}

TEST_CASE(
    "under streamed, training is never slower with more freedom to move tensors, nor with more "
    "memory",
    "[placement][training][property]") {
  test::FreedomRuns counts;
  for (std::uint64_t seed = 100; seed < 100 + test::cases_of(std::uint64_t{14}); ++seed) {
    INFO("seed " << seed);
    test::check_freedom(random_waiting(seed), {400, 800, 1600}, "to gpu_ddr", counts);
  }
  CHECK(counts.runs > 20);
  CHECK(counts.moved > 1);
}

}  // namespace
}  // namespace sluice
