// Placements of tensors under policy streamed in training: weights take turns, and the tensors of a training step are
// in both memories of the device.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/models.hpp"
#include "support/placed_bounds.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;
using test::Dice;
using test::on_card;

/// Returns the seconds of the run. Both executors must give the same seconds, and they must be the seconds with which
/// the plan was chosen.
double seconds_of(const Scenario& scenario) {
  const Plan plan = make_plan(scenario);
  const double replayed = test::seconds_in_both_executors(plan);
  if (const Fact* chosen = find_fact(plan.facts, "chosen_s"))
    CHECK(chosen->number()->value == Approx(replayed).epsilon(1e-9));
  return replayed;
}

double seconds_or_never(const Scenario& scenario) {
  try {
    return replay(make_plan(scenario)).makespan;
  } catch (const Infeasible&) {
    return never;
  }
}

std::string trained(const std::string& placement, const std::string& fates = "keep_all",
                    const std::string& workload = "optimizer: sgd") {
  return "policy: {name: streamed, placement: " + placement + ", in_flight: 1, overlap: false}\n" +
         "fates: " + fates +
         "\nworkload: {mode: training, batch: 1, steps: 3, backward: per_layer, " + workload +
         "}\n";
}

// In each step, the weights of the first product are loaded for its forward pass and again for its backward pass, and
// those of the second product are loaded once: 160 + 40 s. The input takes 4 s. The updated weights are saved in 120 s.
constexpr double copies_s = 160 + 40 + 4 + 120;
// The kernels read and write these bytes in each step.
//   Forward passes: 40 + 800 + 80 (input, weights, output), and 80 + 400 + 20.
//   Backward pass of the second product: 80 + 400 + 20 (input, weights, gradient of the output), and 80 + 400 (gradients
//   of the input and of the weights).
//   Backward pass of the first product: 40 + 800 + 80, and 800 for the gradient of the weights. No gradient of the input
//   is needed.
//   Updates: weights are read and written, and their gradients are read: 3 x 400 and 3 x 800.
constexpr double kernel_bytes = 920 + 500 + 980 + 1720 + 1200 + 2400;

TEST_CASE("under streamed, training reads and writes each tensor in the memory of its placement",
          "[placement][training]") {
  const auto seconds = [](std::int64_t first, const std::string& text) {
    return seconds_of(on_card(first, 9000, text));
  };
  CHECK(seconds(100, trained("all_slow")) ==
        Approx(3 * (copies_s + kernel_bytes / 10)).epsilon(1e-9));
  // The backward pass of the first product needs the most bytes: 40 for the input, 800 for the weights, 80 for the
  // gradient of the output, and 800 for the gradient of the weights, together 1720.
  CHECK(seconds(1720, trained("static")) ==
        Approx(3 * (copies_s + kernel_bytes / 100)).epsilon(1e-9));
  CHECK(seconds(1720, trained("none")) ==
        Approx(3 * (copies_s + kernel_bytes / 100)).epsilon(1e-9));
  // If the first memory has one byte less, the input is in the second memory. The forward pass and the backward pass
  // of the first product read it there, in 4 s instead of 0.4 s.
  CHECK(seconds(1719, trained("static")) ==
        Approx(3 * (copies_s + kernel_bytes / 100 + 2 * 3.6)).epsilon(1e-9));
  CHECK_THROWS_AS(make_plan(on_card(1719, 9000, trained("none"))), Infeasible);
}

TEST_CASE("under streamed, weights may stay in either memory of the device in training",
          "[placement][training]") {
  const auto seconds = [](std::int64_t first, const std::string& keys) {
    return seconds_of(on_card(
        first, 9000,
        "policy: {name: streamed, overlap: false, " + keys +
            "}\nfates: keep_all\n"
            "workload: {mode: training, batch: 1, steps: 3, backward: per_layer, optimizer: sgd}\n"));
  };
  // All weights stay in the second memory. They are loaded once, and each input once.
  CHECK(seconds(1000, "placement: all_slow") ==
        Approx(120 + 3 * 4 + 3 * kernel_bytes / 10).epsilon(1e-9));
  // The weights of the first product stay in the first memory, and those of the second product in the second memory.
  // The gradients of all weights are in the second memory, and so is the output. Kernels read and write these bytes
  // there: 400 + 400 + 800 of weights, 800 + 800 and 400 + 400 of gradients, and 20 + 20 of the output and its
  // gradient.
  const double slow_bytes = 1600 + 1600 + 800 + 40;
  CHECK(seconds(1000, "placement: static") ==
        Approx(120 + 3 * (4 + kernel_bytes / 100 + slow_bytes * 0.09)).epsilon(1e-9));
  // The weights of the first product stay. Those of the second product take turns: they are loaded and saved once in
  // each step. The gradient of the tensor between the products (80 bytes) and the output are in the second memory.
  CHECK(seconds(1720, "placement: static") ==
        Approx(80 + 3 * (4 + 40 + 40 + kernel_bytes / 100 + 200 * 0.09)).epsilon(1e-9));
  CHECK(seconds(1720, "placement: static, resident: none") ==
        Approx(3 * (copies_s + kernel_bytes / 100)).epsilon(1e-9));
}

TEST_CASE("under streamed, training places the state of the optimizer", "[placement][training]") {
  // The state of Adam has twice the bytes of the weights: 2400 bytes. In each step, it is loaded in 240 s and saved in
  // 240 s. The updates read 2400 bytes of the state, and write 2400 bytes. In the first memory, the update of the first
  // product needs 800 + 800 + 1600 bytes.
  constexpr double more_copies_s = 480, state_bytes = 4800;
  const auto step_s = [](std::int64_t first, const std::string& placement) {
    return seconds_of(on_card(first, 9000, trained(placement, "keep_all", "optimizer: adam"))) / 3;
  };
  CHECK(step_s(3200, "static") ==
        Approx(copies_s + more_copies_s + (kernel_bytes + state_bytes) / 100).epsilon(1e-9));
  CHECK(step_s(100, "all_slow") ==
        Approx(copies_s + more_copies_s + (kernel_bytes + state_bytes) / 10).epsilon(1e-9));
  // If the first memory has one byte less, kernels must read or write some tensor in the second memory.
  CHECK(step_s(3199, "static") >
        1.01 * (copies_s + more_copies_s + (kernel_bytes + state_bytes) / 100));
}

TEST_CASE("under streamed, a backward pass that is given as a multiple follows its forward pass",
          "[placement][training]") {
  // The backward pass takes twice the seconds of the forward pass with the same placement: 2 x 920 and 2 x 500 bytes
  // instead of 1720 and 980.
  Value document = on_card(100, 9000, trained("all_slow")).document;
  apply_overrides(document, {"workload.backward=2"});
  CHECK(seconds_of(read_scenario(document, "card")) ==
        Approx(3 * (copies_s + (kernel_bytes + 120 + 20) / 10)).epsilon(1e-9));
}

TEST_CASE("under streamed, a placement in training follows the fates of activations",
          "[placement][training]") {
  // Between its two passes, the micro-batch keeps only its input. So the forward pass of the first product runs again,
  // before the backward pass of the second product. It reads and writes 920 bytes. The weights of the first product are
  // loaded a third time, and those of the second product a second time: 80 + 40 s.
  CHECK(seconds_of(on_card(100, 9000, trained("all_slow", "recompute_all"))) ==
        Approx(3 * (copies_s + 80 + 40 + (kernel_bytes + 920) / 10)).epsilon(1e-9));
}

TEST_CASE("under streamed, the answer of a placed training says its fates and its bytes",
          "[placement][training]") {
  const Plan plan = make_plan(on_card(1719, 9000, trained("static")));
  CHECK(find_fact(plan.facts, "placement")->shown() == "static");
  CHECK(find_fact(plan.facts, "fates")->shown() == "keep_all");
  // Only the input is in the second memory.
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu_ddr")->number()->value == 40);
  const Plan open = make_plan(on_card(1719, 9000, trained("auto")));
  CHECK(find_fact(open.facts, "placements_compared")->shown() == "none, backing, static, all_slow");
  // What a search for fates has proven holds for a machine with one memory. The gap is to another bound, which holds
  // for both memories.
  const Plan optimal = make_plan(on_card(1000, 9000, trained("all_slow", "optimal")));
  for (const char* name : {"proven", "budget_bytes", "micro_batch_bound_s"})
    CHECK(find_fact(optimal.facts, name) == nullptr);
  CHECK(find_fact(optimal.facts, "run_bound_s")->number()->value > 0);
  CHECK(find_fact(optimal.facts, "gap")->number()->value >= 0);
}

TEST_CASE("under streamed, a placement in training that is not possible is refused",
          "[placement][training]") {
  CHECK_THROWS_WITH(make_plan(on_card(100, 300, trained("static"))),
                    Contains("no plan with placement static fits into the memories 'gpu' and "
                             "'gpu_ddr' together"));
}

/// Training of random dense layers on a random card with two memories.
Scenario random_training(std::uint64_t seed) {
  Dice dice(seed);
  std::string text = test::random_card(dice);
  if (!dice.one_in(20)) text += dice.one_in(4) ? "stages: whole\n" : "stages: per_layer\n";
  const std::vector<std::string> fates = {"keep_all",   "offload_all", "recompute_all",
                                          "checkpoint", "sqrt",        "optimal"};
  if (!dice.one_in(15)) text += "fates: " + fates[dice.below(fates.size())] + "\n";
  text += "workload: {mode: training, batch: " + test::number(dice, 1, 3) +
          ", batches_per_step: " + test::number(dice, 1, 2) +
          ", steps: " + test::number(dice, 1, 3) + ", micro_batch: 1, optimizer: " +
          std::vector<std::string>{"sgd", "adam", "none"}[dice.below(3)];
  if (dice.one_in(2)) text += dice.one_in(2) ? ", backward: per_layer" : ", backward: 1.5";
  if (dice.one_in(4)) text += ", split_backward: true";
  text += "}\n";
  if (dice.one_in(4)) text += "memory: {working_set: ignored}\n";
  text += std::string("policy: {name: streamed, placement: ") +
          (dice.one_in(4) ? "all_slow" : "static");
  if (dice.one_in(3)) text += ", overlap: false";
  if (dice.one_in(3)) text += ", in_flight: 1";
  return read_scenario(parse_text(text + "}\n", "card.yaml"), "card");
}

Scenario changed(const Scenario& scenario, const std::vector<std::string>& overrides) {
  Value document = scenario.document;
  apply_overrides(document, overrides);
  return read_scenario(document, "card");
}

/// Returns the seconds of the run with this placement, on a device whose first memory has a capacity of `first` bytes.
double placed_seconds(const Scenario& scenario, const std::string& placement, std::uint64_t first) {
  return seconds_or_never(
      changed(scenario, {"policy.placement=" + placement,
                         "platform.devices.gpu.memory.0.capacity=" + std::to_string(first) + "B"}));
}

TEST_CASE("under streamed, a training whose placement is open is as fast as each placement given",
          "[placement][training][property]") {
  int fits = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    const Scenario scenario = random_training(seed);
    const std::uint64_t first = 300 + Dice(seed).below(2500);
    const auto seconds = [&](const char* placement) {
      return placed_seconds(scenario, placement, first);
    };
    INFO("seed " << seed << ", " << first << " bytes");
    const double open = seconds("auto"), placed = seconds("static"), none = seconds("none"),
                 all_slow = seconds("all_slow");
    CHECK(placed <= std::min(none, all_slow) * (1 + 1e-9));
    CHECK(open <= std::min(placed, seconds("backing")) * (1 + 1e-9));
    fits += placed < never ? 1 : 0;
  }
  CHECK(fits > 30);
}

TEST_CASE("under streamed, a placed training is never slower if tensors may stay",
          "[placement][training][property]") {
  int faster = 0;
  for (std::uint64_t seed = 200; seed < 200 + test::cases_of(std::uint64_t{40}); ++seed) {
    const Scenario scenario = random_training(seed);
    const std::uint64_t first = 300 + Dice(seed).below(2500);
    for (const char* placement : {"static", "first_touch"}) {
      INFO("seed " << seed << ", " << placement << ", " << first << " bytes");
      const double none =
          placed_seconds(changed(scenario, {"policy.resident=none"}), placement, first);
      const double open = placed_seconds(scenario, placement, first);
      CHECK(open <= none * (1 + 1e-9));
      faster += open < none * (1 - 1e-9) ? 1 : 0;
    }
  }
  CHECK(faster > test::cases_of(8));
}

TEST_CASE("under streamed, a placed training is never slower with more fast memory",
          "[placement][training][property]") {
  int runs = 0;
  for (std::uint64_t seed = 100; seed < 100 + test::cases_of(std::uint64_t{15}); ++seed) {
    const Scenario scenario = random_training(seed);
    for (const char* placement : {"static", "auto"}) {
      double before = never;
      for (const std::uint64_t first : {300U, 900U, 2700U}) {
        INFO("seed " << seed << ", " << placement << ", " << first << " bytes");
        const double seconds = placed_seconds(scenario, placement, first);
        CHECK(seconds <= before * (1 + 1e-9));
        before = seconds;
        if (seconds < never) ++runs;
      }
    }
  }
  CHECK(runs > test::cases_of(30));
}

TEST_CASE("under streamed, no placed training is faster than the bound of its shown machine",
          "[placement][training][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{40}); ++seed) {
    const Scenario scenario = random_training(seed);
    for (const CutModel& cut : cut_models(scenario)) {
      const PolicyRequest request = request_of(scenario, cut, scenario.fates);
      // The last candidate stands for all shown machines. `open` returns one candidate for each of them.
      const std::vector<Candidate> candidates =
          scenario.policy->candidates(request, scenario.policy.keys.reader());
      for (const Candidate& one : candidates.back().open())
        one.simulate(never, [&](const Settled& settled) {
          INFO("seed " << seed << ", " << cut.stages.size() << " stages");
          CHECK(one.at_least <= settled.seconds);
          runs += settled.plan ? 1 : 0;
        });
    }
  }
  CHECK(runs > 100);
}

TEST_CASE("under streamed, no placed plan of training is faster than its bound",
          "[placement][training][property]") {
  test::BoundRuns counts;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed)
    test::check_placed_bounds(changed(random_training(seed), {"policy.placement=none"}), seed,
                              counts);
  CHECK(counts.reached > counts.runs / 8);
}

/// Training of a bundled model in four groups. The second memory of the card has the given bandwidth.
Scenario bundled(const std::string& model, const std::string& fates, const std::string& second) {
  Value document = parse_text(
      "format: sluice-scenario/1\nmodel: {}\nplatform:\n  format: sluice-platform/1\n"
      "  name: card\n  devices:\n    gpu:\n      rate: {float32: 1TFLOP/s}\n"
      "      memory:\n      - {capacity: 1TB, bandwidth: 10GB/s}\n"
      "      - {name: ddr, capacity: 1TB, bandwidth: " +
          second +
          "}\n  memories: {host: {capacity: 10TB}}\n  links:\n"
          "    host: {joins: [host, gpu], bandwidth: 10GB/s}\n"
          "    far: {joins: [gpu, gpu_ddr], bandwidth: 10GB/s}\n"
          "stages: {cut: by_weight, groups: 4}\nfates: " +
          fates +
          "\npolicy: {name: streamed, placement: none}\n"
          "workload: {mode: training, batch: 1, backward: per_layer, optimizer: adam}\n",
      "card.yaml");
  Value definition = Value::make_map();
  definition.set("definition", load_document(test::zoo + model + ".yaml"));
  document.set("model", std::move(definition));
  return read_scenario(document, "card");
}

TEST_CASE("a computation of training has the same price in memories of the same bandwidth",
          "[placement][training]") {
  for (const char* model : {"alexnet", "resnet18", "gpt2", "swin_t"})
    for (const char* fates : {"keep_all", "selective"}) {
      INFO(model << ", " << fates);
      const Scenario same = bundled(model, fates, "10GB/s"),
                     slower = bundled(model, fates, "1GB/s");
      const PlannedScenario planned = plan_scenario(same);
      const PolicyRequest request = request_of(same, planned.cut, same.fates),
                          slow_request = request_of(slower, planned.cut, slower.fates);
      PlacedPrices prices(request, {"gpu"}), slow_prices(slow_request, {"gpu"});
      const PlacedKinds placed(prices, planned.plan, /*in_turn=*/false);
      const TensorKinds all(placed.kinds().begin(), placed.kinds().end());
      test::check_operands(planned.plan, prices, placed);
      for (const Action& action : planned.plan.actions) {
        if (action.is_transfer()) continue;
        INFO(name_of(action));
        const StageWork work = prices.work_of(planned.plan, action);
        CHECK(prices.of(work, {}).seconds == Approx(action.seconds).epsilon(1e-9));
        CHECK(prices.of(work, all).seconds == Approx(action.seconds).epsilon(1e-9));
        // Kernels use only classes of which the plan has tensors.
        for (const TensorKind& kind : prices.used_by(work))
          if (std::ranges::count(all, kind.tensor_class, &TensorKind::tensor_class) == 0)
            CHECK(slow_prices.of(work, {kind}).seconds == Approx(action.seconds).epsilon(1e-9));
      }
    }
}

}  // namespace
}  // namespace sluice
