// Tests `optimal` under `phased` on two devices that take turns. In small networks, its plans and its bound are compared
// with an exhaustive search of all schedules.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/brute_fates.hpp"
#include "support/campaign.hpp"
#include "support/drawn_layers.hpp"

namespace sluice {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::int64_t plenty = std::int64_t{1} << 40;

/// A device of the machine: its rate, and the bandwidth of its link.
struct DrawnDevice {
  std::string rate = "1GFLOP/s", bandwidth = "1GB/s";
};

/// A training run of a network on two devices, with one layer per stage. Each device has a link of its own.
class PhasedRun {
 public:
  PhasedRun(int image, const std::vector<test::Drawn>& layers, bool overlap,
            const std::vector<DrawnDevice>& devices)
      : text_("format: sluice-scenario/1\n" + test::model_text(image, layers) +
              platform_text(devices) +
              "workload: {mode: training, batch: 1, optimizer: none}\nstages: {cut: per_layer}\n"
              "cost: {model: peak}\n"),
        overlap_(overlap),
        asked_(scenario("keep_all", overlap, {plenty, plenty})) {
    const CutModel cut = cut_model(asked_);
    const PolicyRequest request = {{asked_.model, cut.stages, asked_.platform, *asked_.cost,
                                    asked_.workload.dtype, &*asked_.workload.training},
                                   asked_.workload};
    for (const Device& device : asked_.platform.devices) {
      const SideBySide own =
          side_by_side(chain_of(request, device, {.selective = false, .overlap = overlap}),
                       states_of(request, device, {.selective = false, .overlap = overlap}),
                       asked_.workload, {.overlap = overlap});
      if (!overlap && on_.empty()) weights_s_ = {own.run.idle_s()};
      on_.push_back(own.chain);
    }
  }

  const std::string& text() const { return text_; }
  bool branches() const { return on_.front().branches(); }

  /// Returns the plan of the strategy. `budgets` has the bytes of each device.
  Plan plan(const std::string& strategy, const std::vector<std::int64_t>& budgets) const {
    return make_plan(scenario(strategy, overlap_, budgets));
  }
  /// Returns two numbers of bytes: the smallest that is enough for one of the strategies that treat every stage alike,
  /// and a number that is enough to keep all tensors. Without overlap, no tensor comes early.
  std::pair<std::int64_t, std::int64_t> peaks() const {
    const std::int64_t all = peak("keep_all");
    std::int64_t low = all;
    for (const char* strategy : {"recompute_all", "offload_all", "checkpoint"})
      low = std::min(low, peak(strategy));
    return {low, all};
  }
  test::BruteForce brute_force(const std::vector<std::int64_t>& budgets, double below) const {
    return test::brute_force(on_, budgets, weights_s_, overlap_, below);
  }

 private:
  static std::string platform_text(const std::vector<DrawnDevice>& devices) {
    std::string text = "platform:\n  format: sluice-platform/1\n  name: small\n  devices:\n",
                links = "  links:\n";
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const std::string name = "gpu" + std::to_string(d);
      text += "    " + name + ": {rate: {float32: " + devices[d].rate +
              "}, memory: {capacity: unlimited}}\n";
      links += "    link" + std::to_string(d) + ": {joins: [host, " + name +
               "], bandwidth: " + devices[d].bandwidth + ", duplex: full}\n";
    }
    return text + "  memories: {host: {capacity: unlimited}}\n" + links;
  }

  Scenario scenario(const std::string& strategy, bool overlap,
                    const std::vector<std::int64_t>& budgets) const {
    Value document =
        parse_text(text_ + "policy: {name: phased, overlap: " + (overlap ? "true" : "false") +
                       "}\nfates: {strategy: " + strategy + "}\n",
                   "drawn.yaml");
    std::vector<std::string> overrides;
    for (std::size_t d = 0; d < budgets.size(); ++d)
      overrides.push_back("platform.devices.gpu" + std::to_string(d) +
                          ".memory.capacity=" + std::to_string(budgets[d]) + "B");
    apply_overrides(document, overrides);
    return read_scenario(std::move(document), "drawn");
  }

  std::int64_t peak(const std::string& strategy) const {
    const Plan plan = make_plan(scenario(strategy, false, {plenty, plenty}));
    const std::vector<std::int64_t> peaks = replay(plan).peaks;
    std::int64_t most = 0;
    for (std::size_t p = 0; p < peaks.size(); ++p)
      if (!plan.pools[p].owner.empty()) most = std::max(most, peaks[p]);
    return most;
  }

  std::string text_;
  bool overlap_;
  Scenario asked_;
  std::vector<Chain> on_;  ///< the chain with the prices of each device
  std::vector<double> weights_s_;
};

double number_of(const Plan& plan, const char* fact) {
  const Fact* const found = find_fact(plan.facts, fact);
  REQUIRE(found != nullptr);
  return std::get<Fact::Number>(found->value).value;
}

/// What the exhaustive search found in several networks: how many of them branch, in how many it found a faster schedule
/// than `optimal`, the greatest share by which a schedule was faster, and the last such schedule.
struct Compared {
  int branching = 0, faster = 0;
  double worst = 0;
  std::string schedule = {};
};

/// Compares `optimal` with an exhaustive search of all schedules, in random networks with random budgets. No schedule may
/// be faster than the bound that `optimal` reports. If `unlike`, the devices differ in their rates, links and bytes.
Compared compare(std::uint64_t seed, int cases, std::size_t most, bool overlap, bool unlike) {
  test::Dice dice(seed);
  Compared compared;
  for (int k = 0; k < cases; ++k) {
    std::vector<test::Drawn> layers = test::random_layers(dice, 2 + dice.below(most - 1));
    for (test::Drawn& layer : layers) layer.parameters = 1 + static_cast<int>(dice.below(50));
    std::vector<DrawnDevice> devices(2);
    if (unlike)
      for (DrawnDevice& device : devices)
        device = {std::to_string(1 + dice.below(8)) + "GFLOP/s",
                  std::to_string(1 + dice.below(8)) + "GB/s"};
    const PhasedRun run(1 + static_cast<int>(dice.below(100)), layers, overlap, devices);
    compared.branching += run.branches();
    const auto [low, high] = run.peaks();
    std::vector<std::int64_t> budgets(
        2, low + (high - low) * static_cast<std::int64_t>(dice.below(9)) / 8);
    if (unlike) budgets[dice.below(2)] += static_cast<std::int64_t>(dice.below(200));
    INFO(run.text() << "budgets " << budgets[0] << ", " << budgets[1] << ", case " << k);
    double optimal = never;
    Plan plan;
    try {
      plan = run.plan("optimal", budgets);
      optimal = replay(plan).makespan;
    } catch (const Infeasible&) {
      FAIL("optimal refuses a budget within which a strategy that treats every stage alike fits");
    }
    const double bound = number_of(plan, "run_bound_s"), gap = number_of(plan, "gap");
    CHECK(gap == Approx((optimal - bound) / optimal).margin(1e-9));
    CHECK(bound <= optimal * (1 + 1e-9));
    const test::BruteForce best = run.brute_force(budgets, optimal * (1 - 1e-9));
    if (best.seconds == never) continue;
    ++compared.faster;
    compared.schedule = "case " + std::to_string(k) + ": " + best.fastest;
    compared.worst = std::max(compared.worst, 1 - best.seconds / optimal);
    CHECK(best.seconds >= bound * (1 - 1e-9));
  }
  CHECK(compared.branching > cases / 4);
  return compared;
}

TEST_CASE("phased: without overlap, no schedule is faster than that of optimal", "[property]") {
  const Compared compared = compare(1121, test::cases_of(300), 4, false, false);
  CAPTURE(compared.branching, compared.faster, compared.worst, compared.schedule);
  CHECK(compared.faster == 0);
}

TEST_CASE("phased: with overlap, no schedule is faster than that of optimal", "[property]") {
  const Compared compared = compare(1122, test::cases_of(100), 3, true, false);
  CAPTURE(compared.branching, compared.faster, compared.worst, compared.schedule);
  CHECK(compared.faster == 0);
}

// `optimal` uses as many bytes of each device as the smallest memory has. The exhaustive search also uses the others. So
// only the bound is compared here.
TEST_CASE("phased: on unlike devices, no schedule is faster than the bound of optimal",
          "[property]") {
  compare(1123, test::cases_of(60), 4, false, true);
  compare(1124, test::cases_of(40), 3, true, true);
}

}  // namespace
}  // namespace sluice
