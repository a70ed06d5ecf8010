// The placements `synchronous` and `asynchronous` under policy streamed: weights in the second memory are copied to the
// first memory for each run of their stage. test_turns_waiting.cpp has the moves of other tensors.
#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/moved_weights.hpp"
#include "policy/policy.hpp"
#include "run/isolated.hpp"
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

std::string four_at_once(const std::string& placement, const std::string& more) {
  return "policy: {name: streamed, placement: " + placement +
         ", in_flight: 4, prefetch: 0, pieces: whole, resident: all" + more +
         "}\nworkload: {batch: 1, batches_per_step: 4, steps: 3}\n";
}

TEST_CASE("under streamed, a synchronous move copies weights once for all micro-batches",
          "[placement]") {
  const auto seconds = [](const std::string& placement) {
    return seconds_in_both_executors(
        make_plan(on_card(900, 4000, four_at_once(placement, ", overlap: false"))));
  };
  // Nothing overlaps. The weights are loaded once, in 120 s. In each step, 4 inputs and 4 answers take 16 + 8 s. With
  // static, the first weights stay in the second memory. With moves, all weights are in the second memory, and 1200 bytes
  // move at 100 byte/s in each step. For each micro-batch, the products then take 9.2 + 5 s. The copy of the first weights
  // leaves room for 100 bytes. So the inputs are in the second memory, where the first product reads each of them in 4
  // instead of 0.4 s. Of the 4 tensors of 80 bytes between the products, 3 wait in the second memory. They move there and
  // back, in 0.8 s each.
  CHECK(seconds("synchronous") ==
        Approx(120 + 3 * (16 + 8 + 12 + 4 * (9.2 + 5 + 3.6) + 3 * 1.6)).epsilon(1e-9));
  CHECK(seconds("static") > 900);
  // Moves that overlap nothing are synchronous moves.
  CHECK(seconds("asynchronous") == Approx(seconds("synchronous")).epsilon(1e-9));
}

TEST_CASE("under streamed, the answer says how many bytes move in a round", "[placement]") {
  const Plan plan = make_plan(on_card(900, 4000, four_at_once("synchronous", ", overlap: false")));
  CHECK(find_fact(plan.facts, "placement")->shown() == "synchronous");
  CHECK(find_fact(plan.facts, "moved_bytes", "to gpu")->number()->value == 1200 + 3 * 80);
  CHECK(find_fact(plan.facts, "moved_bytes", "to gpu_ddr")->number()->value == 3 * 80);
  // The copies do not count: 4 answers and 4 x 80 bytes are placed in the first memory, and the weights and 4 inputs in
  // the second memory.
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu")->number()->value == 4 * (20 + 80));
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu_ddr")->number()->value == 1200 + 4 * 40);
}

/// Four products, each with weights of 400 bytes, and inputs and outputs of 40 bytes, on a card whose link to host memory
/// takes almost no time.
Scenario four_products(const std::string& placement) {
  Value document = on_card(1150, 4000, four_at_once(placement, "")).document;
  std::string layers = "[{type: input, name: x, shape: [10]}";
  for (const char* name : {"a", "b", "c", "d"})
    layers += std::string(", {type: dense, name: ") + name + ", features: 10, bias: false}";
  apply_overrides(
      document, {"model.definition.layers=" + layers + "]", "platform.links.host.bandwidth=1GB/s"});
  return read_scenario(document, "card");
}

TEST_CASE("under streamed, asynchronous moves are hidden by the computation before them",
          "[placement]") {
  const auto seconds = [](const std::string& placement) {
    return seconds_in_both_executors(make_plan(four_products(placement)));
  };
  // A product reads 440 bytes and writes 40 bytes, in 4.8 s. If its weights are in the second memory, it takes 40.8 s.
  // The first memory has room for the weights of two products. In each step, four micro-batches go through each product.
  CHECK(seconds("static") == Approx(3 * 4 * (2 * 4.8 + 2 * 40.8)).epsilon(1e-6));
  // A move takes 4 s. One of the weights stays in the first memory, and the others move in each step.
  CHECK(seconds("synchronous") == Approx(3 * (4 * 4 * 4.8 + 3 * 4)).epsilon(1e-6));
  // While the four micro-batches go through a product, the weights of the next product move. Only the move for the first
  // product of a step is not hidden. Before the first step, these weights are loaded over the link between the two
  // memories, in 4 s.
  CHECK(seconds("asynchronous") == Approx(4 + 3 * (4 * 4 * 4.8 + 4)).epsilon(1e-6));
}

/// A plan of the policy with all tensors in the first memory, and its moves.
struct MovedPlan {
  explicit MovedPlan(Scenario asked)
      : scenario(std::move(asked)),
        planned(plan_scenario(scenario)),
        request(request_of(scenario, planned.cut, scenario.fates)),
        prices(request, {"gpu"}),
        placed(prices, planned.plan, scenario.policy.keys.map().find("overlap") != nullptr),
        moved(prices, placed) {}

  Scenario scenario;
  PlannedScenario planned;
  PolicyRequest request;
  PlacedPrices prices;
  PlacedKinds placed;
  MovedWeights moved;
};

TEST_CASE("under streamed, moves in training serve forward and backward passes, but no updates",
          "[placement][training]") {
  const MovedPlan of(on_card(9000, 9000,
                             "policy: {name: streamed, placement: none, in_flight: 1, overlap: "
                             "false}\nfates: keep_all\n"
                             "workload: {mode: training, batch: 1, steps: 3, backward: per_layer, "
                             "optimizer: sgd}\n"));
  const TensorKinds slow = {{TensorClass::weight, 0}, {TensorClass::weight, 1}};
  CHECK(of.moved.movable(slow) == slow);
  const double without = seconds_in_both_executors(of.placed.plan(slow));
  // The first product reads its weights (800 bytes) in a forward pass and in a backward pass. Between them, other weights
  // are used, so these passes are two runs, and 1600 bytes move in 16 s. The passes of the second product are one run:
  // 400 bytes move in 4 s. Each of the four passes reads its weights in the first memory, at 100 instead of 10 byte/s.
  const double with_all = 16 + 4 - (2 * 800 + 2 * 400) * 0.09;
  CHECK(seconds_in_both_executors(
            of.moved.with_moves(of.placed.plan(slow), slow, slow, CopyMode::synchronous)) ==
        Approx(without + 3 * with_all).epsilon(1e-9));
  CHECK(of.moved.worth_moving(slow) == slow);
  // If only the weights of the second product are in the second memory, only they can move.
  const TensorKinds second = {{TensorClass::weight, 1}};
  CHECK(of.moved.movable(second) == second);
  CHECK(seconds_in_both_executors(
            of.moved.with_moves(of.placed.plan(second), second, second, CopyMode::synchronous)) ==
        Approx(seconds_in_both_executors(of.placed.plan(second)) + 3 * (4 - 2 * 400 * 0.09))
            .epsilon(1e-9));
}

TEST_CASE("under streamed, weights that take turns are freed in the second memory after their move",
          "[placement]") {
  const MovedPlan of(on_card(4000, 4000,
                             "policy: {name: streamed, placement: none, in_flight: 4, prefetch: 0, "
                             "pieces: whole, resident: none, overlap: false}\n"
                             "workload: {batch: 1, batches_per_step: 4, steps: 3}\n"));
  const TensorKinds slow = {{TensorClass::weight, 0}, {TensorClass::weight, 1}};
  const Plan plan = of.moved.with_moves(of.placed.plan(slow), slow, slow, CopyMode::synchronous);
  seconds_in_both_executors(plan);
  // The second memory holds the weights of one product at a time.
  CHECK(replay(plan).peaks[of.placed.second_pool()] == 800);
}

/// A random card whose second memory is slow, but whose copies to the first memory are fast.
Scenario random_moves(std::uint64_t seed) {
  Dice dice(seed);
  std::string text = test::random_card(dice) + "stages: per_layer\n";
  const bool trains = dice.one_in(3);
  text += "workload: {batch: " + number(dice, 1, 4) + ", batches_per_step: " + number(dice, 1, 4) +
          ", steps: " + number(dice, 1, 4) +
          (trains ? ", mode: training, micro_batch: 1, backward: per_layer" : "") +
          "}\npolicy: {name: streamed, placement: none" +
          (dice.one_in(3) ? ", overlap: false" : "") +
          (!trains && dice.one_in(2) ? ", resident: all" : "") + "}\n";
  Value document = parse_text(text, "card.yaml");
  apply_overrides(document, {"platform.links.far.bandwidth=400B/s", "platform.links.far.setup=0s",
                             "platform.devices.gpu.memory.1.read=" + number(dice, 5, 50) + "B/s"});
  return read_scenario(document, "card");
}

/// Checks that each move copies the weights that its run must read. The move begins after the load of these weights, and
/// after all updates that are listed before its run. It ends before all later updates begin.
void check_weights_of_moves(const Plan& plan, std::uint32_t second, int& updates) {
  std::vector<std::vector<Executed>> all(plan.actions.size());
  replay(plan, [&](const Executed& span) { all[span.action].push_back(span); });
  for (std::uint32_t m = 0; m < plan.actions.size(); ++m) {
    const Action& move = plan.actions[m];
    if (move.kind != ActionKind::move) continue;
    const auto run = std::ranges::find_if(plan.actions, [&](const Action& action) {
      return std::ranges::find(action.waits, Wait{m, 0}) != action.waits.end();
    });
    REQUIRE(run != plan.actions.end());
    const auto reader = static_cast<std::uint32_t>(run - plan.actions.begin());
    const std::string held = move.name.substr(move.name.find('.', 5) + 1);  // "move.<run>.<tensor>"
    for (const Executed& moved : all[m])
      for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
        const Action& other = plan.actions[a];
        for (const Executed& span : all[a]) {
          const bool loads = std::ranges::any_of(other.allocates, [&](const Placement& made) {
            return made.pool == second && plan.tensors[made.tensor].name == held;
          });
          const bool prologue = plan.section_of(a) == Section::prologue;
          if (loads && (prologue || span.iteration + other.ahead == moved.iteration))
            CHECK(moved.start >= span.available);
          if (other.kind != ActionKind::update || other.stage != move.stage) continue;
          ++updates;
          if (std::pair(span.iteration, a) < std::pair(moved.iteration, reader))
            CHECK(moved.start >= span.end);
          else
            CHECK(moved.end <= span.start);
        }
      }
  }
}

TEST_CASE("under streamed, a move copies weights that are loaded and have their last update",
          "[placement][training]") {
  int updates = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{30}); ++seed) {
    Value document = random_moves(seed).document;
    document.set(
        "workload",
        parse_text("{mode: training, batch: 2, micro_batch: 1, batches_per_step: 3, steps: 2, "
                   "backward: per_layer, optimizer: sgd}",
                   "card.yaml"));
    document.set("policy", parse_text("{name: streamed, placement: none}", "card.yaml"));
    Scenario scenario = read_scenario(document, "card");
    scenario.capacity_enforced = false;
    const MovedPlan of(std::move(scenario));
    const TensorKinds slow(of.placed.kinds().begin(), of.placed.kinds().end());
    for (const CopyMode mode : {CopyMode::synchronous, CopyMode::asynchronous}) {
      INFO("seed " << seed);
      const Plan plan =
          of.moved.with_moves(of.placed.plan(slow), slow, of.moved.movable(slow), mode);
      check(plan);
      check_weights_of_moves(plan, of.placed.second_pool(), updates);
    }
  }
  CHECK(updates > 100);
}

TEST_CASE("under streamed, no placed plan with moves is faster than its bound",
          "[placement][property]") {
  int runs = 0, faster = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    Scenario scenario = random_moves(seed);
    scenario.capacity_enforced = false;
    const MovedPlan of(std::move(scenario));
    Dice dice(seed);
    for (int n = 0; n < 4; ++n) {
      TensorKinds slow, moved;
      for (const TensorKind& kind : of.placed.kinds())
        if (dice.one_in(2)) slow.insert(kind);
      for (const TensorKind& kind : of.moved.movable(slow))
        if (!dice.one_in(3)) moved.insert(kind);
      if (moved.empty()) continue;
      for (const CopyMode mode : {CopyMode::synchronous, CopyMode::asynchronous}) {
        INFO("seed " << seed << ", placement " << n);
        const Plan plan = of.moved.with_moves(of.placed.plan(slow), slow, moved, mode);
        check(plan);
        const double seconds = replay(plan).makespan;
        CHECK(of.moved.at_least(slow, moved, mode) <= seconds);
        faster += seconds < replay(of.placed.plan(slow)).makespan ? 1 : 0;
        ++runs;
      }
    }
  }
  CHECK(runs > 60);
  CHECK(faster > runs / 8);
}

TEST_CASE(
    "under streamed, a run is never slower with more freedom to move weights, nor with more "
    "memory",
    "[placement][property]") {
  test::FreedomRuns counts;
  for (std::uint64_t seed = 100; seed < 100 + test::cases_of(std::uint64_t{10}); ++seed) {
    INFO("seed " << seed);
    test::check_freedom(random_moves(seed), {300, 900}, "to gpu", counts);
  }
  CHECK(counts.runs > 20);
  CHECK(counts.moved > 2);
}

}  // namespace
}  // namespace sluice
