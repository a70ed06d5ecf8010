// Placements under policies phased and sharded in random scenarios with one to three devices, which have two memories
// each.
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/placed_bounds.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

using test::Dice;
using test::number;

/// A random scenario. Each memory of a device has a link of its own to host memory. So loads into the two memories share
/// no link. If they shared one, a run could become a little slower with more memory.
class RandomDevices {
 public:
  explicit RandomDevices(std::uint64_t seed, bool training_too = true) : dice_(seed) {
    sharded_ = dice_.one_in(2);
    count_ = 1 + dice_.below(3);
    const bool training = training_too && !sharded_ && dice_.one_in(2);
    text_ =
        "format: sluice-scenario/1\nmodel:\n  definition:\n    format: sluice-model/1\n"
        "    name: dense\n    layers:\n    - {type: input, name: x, shape: [8]}\n";
    std::string last = "x";
    for (std::uint64_t l = 0, layers = 2 + dice_.below(3); l < layers; ++l) {
      const std::string name = "d" + std::to_string(l);
      text_ += "    - {type: dense, name: " + name + ", features: 8, inputs: [" + last + "]}\n";
      last = name;
      if (!dice_.one_in(3)) continue;
      // A shortcut: this layer reads an earlier layer, which may be the input of the model.
      last = "a" + std::to_string(l);
      text_ += "    - {type: add, name: " + last + ", inputs: [" + name + ", " +
               (l > 0 && dice_.one_in(2) ? "d" + std::to_string(l - 1) : "x") + "]}\n";
    }
    text_ += "stages: " + std::string(dice_.one_in(3) ? "whole" : "per_layer") + "\n";
    if (training)
      add_training();
    else
      text_ += "workload: {batch: " + number(dice_, 1, 3) +
               ", batches_per_step: " + number(dice_, 1, 3) + ", steps: " + number(dice_, 1, 3) +
               "}\n";
    if (!sharded_ && !training)
      text_ += std::string("phases: {activations: ") +
               (dice_.one_in(3)   ? "streaming"
                : dice_.one_in(2) ? "pair_link"
                                  : "on_chip") +
               "}\n";
    policy_ = sharded_ ? "sharded" : "phased";
    if (dice_.one_in(3)) policy_ += ", overlap: false";
    rates_ =
        "B, read: " + number(dice_, 20, 400) + "B/s, write: " + number(dice_, 20, 400) + "B/s}";
    links_ = link("host", "[host, gpu]") + link("far", "[host, gpu_ddr]");
    for (std::uint64_t d = 0; d + 1 < count_; ++d)
      links_ += link("pair" + std::to_string(d),
                     "[gpu" + std::to_string(d) + ", gpu" + std::to_string(d + 1) + "]");
  }

  /// Returns the scenario with memories of these sizes.
  Scenario scenario(std::int64_t first, std::int64_t second, const std::string& placement) const {
    const std::string platform =
        "platform:\n  format: sluice-platform/1\n  name: cards\n  devices:\n    gpu:\n      count: " +
        std::to_string(count_) + "\n      rate: {float32: 500FLOP/s}\n      memory:\n" +
        "      - {capacity: " + std::to_string(first) + "B, bandwidth: 300B/s}\n" +
        "      - {name: ddr, capacity: " + std::to_string(second) + rates_ +
        "\n  memories: {host: {capacity: 1MB}}\n  links:\n" + links_;
    return read_scenario(parse_text(text_ + platform + "cost: roofline\npolicy: {name: " + policy_ +
                                        ", placement: " + placement + "}\n",
                                    "cards.yaml"),
                         "cards");
  }
  std::vector<std::string> devices() const {
    if (count_ == 1) return {"gpu"};
    std::vector<std::string> names;
    for (std::uint64_t d = 0; d < count_; ++d) names.push_back("gpu" + std::to_string(d));
    return names;
  }
  PassedTensors passed() const { return {.inputs_stay = sharded_, .answers_pass = true}; }
  bool may_move() const { return count_ == 1 && !sharded_; }
  const std::string& text() const { return text_; }

 private:
  void add_training() {
    const std::uint64_t micro_batches = 1 + dice_.below(2);
    text_ += "workload: {mode: training, batch: " + std::to_string(micro_batches) +
             ", micro_batch: 1, steps: " + number(dice_, 1, 2) +
             ", optimizer: " + (dice_.one_in(2) ? "adam" : "none") +
             (dice_.one_in(2) ? ", backward: per_layer" : "") + "}\nfates: " +
             (dice_.one_in(3)   ? "recompute_all"
              : dice_.one_in(2) ? "offload_all"
                                : "keep_all") +
             "\n";
  }
  std::string link(const std::string& name, const std::string& joins) {
    return "    " + name + ": {joins: " + joins + ", bandwidth: " + number(dice_, 5, 200) +
           "B/s, latency: " + number(dice_, 0, 3) + "s, setup: " + number(dice_, 0, 2) +
           "s, sharing: private}\n";
  }

  Dice dice_;
  bool sharded_ = false;
  std::uint64_t count_ = 1;
  std::string text_, policy_, rates_, links_;
};

TEST_CASE("under phased and sharded, no placed plan is faster than its bound",
          "[placement][property]") {
  test::BoundRuns counts;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{80}); ++seed) {
    const RandomDevices random(seed);
    INFO(random.text());
    Scenario scenario = random.scenario(1000, 1000, "none");
    test::check_placed_bounds(scenario, seed, counts, random.devices(), random.passed());
  }
  CHECK(counts.reached > counts.runs / 8);
}

TEST_CASE(
    "under phased and sharded, kernels take longer in a slower second memory only for tensors of the plan",
    "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{60}); ++seed) {
    const RandomDevices random(seed);
    Scenario scenario = random.scenario(1000, 1000, "none");
    scenario.capacity_enforced = false;
    const PlannedScenario planned = plan_scenario(scenario);
    const PolicyRequest request = request_of(scenario, planned.cut, scenario.fates);
    PlacedPrices prices(request, random.devices(), random.passed());
    const PlacedKinds placed(prices, planned.plan, false);
    const TensorKinds all(placed.kinds().begin(), placed.kinds().end());
    for (const Action& action : planned.plan.actions) {
      if (action.is_transfer()) continue;
      INFO("seed " << seed << ", " << name_of(action) << "\n" << random.text());
      const StageWork work = prices.work_of(planned.plan, action);
      CHECK(prices.of(work, {}).seconds == Approx(action.seconds).epsilon(1e-9));
      for (int c = 0; c < tensor_class_count; ++c) {
        const TensorKind kind{static_cast<TensorClass>(c)};
        if (all.count(kind) == 0)
          CHECK(prices.of(work, {kind}).seconds == Approx(action.seconds).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("under phased and sharded, a run is never slower with more memory or with more freedom",
          "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{25}); ++seed) {
    const RandomDevices random(seed);
    const auto with = [&](std::int64_t first, std::int64_t second, const std::string& placement) {
      try {
        const Plan plan = make_plan(random.scenario(first, second, placement));
        check(plan);
        return replay(plan).makespan;
      } catch (const Infeasible&) {
        return never;
      }
    };
    Dice dice(seed);
    std::int64_t first = 200, second = 600;
    double before = never, open_before = never;
    for (int n = 0; n < 4; ++n) {
      (dice.one_in(2) ? first : second) += 1 + static_cast<std::int64_t>(dice.below(700));
      INFO("seed " << seed << ", " << first << " and " << second << " bytes\n" << random.text());
      const double seconds = with(first, second, "static"), open = with(first, second, "auto");
      for (const char* other : {"none", "first_touch", "all_slow"})
        CHECK(seconds <= with(first, second, other) * (1 + 1e-9));
      CHECK(seconds <= before * (1 + 1e-9));
      CHECK(open <= std::min(seconds, open_before) * (1 + 1e-9));
      before = seconds;
      open_before = open;
      if (!random.may_move()) continue;
      const double moved = with(first, second, "synchronous");
      CHECK(moved <= seconds * (1 + 1e-9));
      CHECK(with(first, second, "asynchronous") <= moved * (1 + 1e-9));
    }
  }
}

TEST_CASE("under phased and sharded, both executors run placed plans alike",
          "[placement][property]") {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{12}); ++seed) {
    const RandomDevices random(seed);
    std::vector<std::string> placements = {"static", "all_slow", "auto"};
    if (random.may_move())
      placements.insert(placements.end(), {"backing", "cached", "synchronous"});
    for (const std::string& placement : placements) try {
        INFO("seed " << seed << ", " << placement << "\n" << random.text());
        test::seconds_in_both_executors(make_plan(random.scenario(900, 2000, placement)));
        ++runs;
      } catch (const Infeasible&) {
      }
  }
  CHECK(runs > 20);
}

}  // namespace
}  // namespace sluice
