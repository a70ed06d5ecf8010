// Tests `optimal` under `phased` on two devices that take turns. In small networks, its plans and its bound are
// compared with an exhaustive search of all schedules.
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/training/training.hpp"
#include "planning/training/worst_moment.hpp"
#include "scenario/scenario.hpp"
#include "support/brute_fates.hpp"
#include "support/campaign.hpp"
#include "support/drawn_layers.hpp"

namespace sluice {
namespace {

constexpr std::int64_t plenty = std::int64_t{1} << 40;

/// A device of the machine: its rate, and the bandwidth of its link.
struct DrawnDevice {
  std::string rate = "1GFLOP/s", bandwidth = "1GB/s";
};

/// A training run of a network on two devices, with one layer per stage. Each device has a link of its own.
class PhasedRun {
 public:
  /// If `stays` is given, it says for each layer whether its weights and their gradients stay on their device.
  /// Otherwise this is left open.
  PhasedRun(int image, const std::vector<test::Drawn>& layers, bool overlap,
            const std::vector<DrawnDevice>& devices,
            const std::optional<std::vector<bool>>& stays = {})
      : text_("format: sluice-scenario/1\n" + test::model_text(image, layers) +
              platform_text(devices) +
              "workload: {mode: training, batch: 1, optimizer: none}\nstages: {cut: per_layer}\n"
              "cost: {model: peak}\n"),
        overlap_(overlap),
        resident_(stays ? ", resident: " + resident_text(*stays) : ""),
        asked_(scenario("keep_all", overlap, {plenty, plenty})) {
    const CutModel cut = cut_model(asked_);
    const PolicyRequest request = {{asked_.model, cut.stages, asked_.platform, *asked_.cost,
                                    asked_.workload.dtype, &*asked_.workload.training},
                                   asked_.workload};
    std::vector<StayingTensors> staying;
    for (std::size_t s = 0; stays && s < stays->size(); ++s)
      staying.push_back((*stays)[s] ? all_stay : StayingTensors());
    std::vector<StageState> on_own_device;
    for (const Device& device : asked_.platform.devices) {
      const PassOptions passes = {.selective = false, .overlap = overlap};
      const std::vector<StageState> states = states_of(request, device, passes, staying);
      const SideBySide own = side_by_side(chain_of(request, device, passes), states,
                                          asked_.workload, {.overlap = overlap});
      const std::size_t count = asked_.platform.devices.size(), number = on_.size();
      stay_bytes_.push_back(Constants{states, false, count}.bytes(number));
      on_own_device.resize(states.size());
      for (std::size_t s = number; s < states.size(); s += count) on_own_device[s] = states[s];
      on_.push_back(own.chain);
    }
    first_load_s_ = first_load_s(on_own_device);
    if (!overlap) weights_s_ = {first_load_s_};
  }

  const std::string& text() const { return text_; }
  const std::string& resident() const { return resident_; }
  /// Without overlap, these seconds do not belong to the micro-batch.
  double first_load_s() const { return first_load_s_; }
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
    std::vector<std::int64_t> rooms = budgets;
    for (std::size_t d = 0; d < rooms.size(); ++d) rooms[d] -= stay_bytes_[d];
    return test::brute_force(on_, rooms, weights_s_, overlap_, below);
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

  /// Returns the seconds of the loads of weights that stay, and of the first weights that take turns.
  static double first_load_s(const std::vector<StageState>& states) {
    double seconds = 0;
    bool found = false;
    for (const StageState& state : states) {
      if (state.stays.weights || !found) seconds += state.weights_load_s;
      found = found || !state.stays.weights;
    }
    return seconds;
  }

  static std::string resident_text(const std::vector<bool>& stays) {
    std::string text;
    for (std::size_t s = 0; s < stays.size(); ++s)
      if (stays[s]) text += (text.empty() ? "[" : ", ") + std::to_string(s + 1);
    return text.empty() ? "none" : text + "]";
  }

  Scenario scenario(const std::string& strategy, bool overlap,
                    const std::vector<std::int64_t>& budgets) const {
    Value document =
        parse_text(text_ + "policy: {name: phased, overlap: " + (overlap ? "true" : "false") +
                       resident_ + "}\nfates: {strategy: " + strategy + "}\n",
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
  std::string resident_;  ///< the key `resident`, if the scenario has it
  Scenario asked_;
  std::vector<Chain> on_;  ///< the chain with the prices of each device
  std::vector<double> weights_s_;
  double first_load_s_ = 0;
  std::vector<std::int64_t>
      stay_bytes_;  ///< indexed by device: the bytes of tensors that stay there
};

double number_of(const Plan& plan, const char* fact) {
  const Fact* const found = find_fact(plan.facts, fact);
  REQUIRE(found != nullptr);
  return std::get<Fact::Number>(found->value).value;
}

/// What the exhaustive search found in several networks: how many of them branch, in how many `optimal` gave a bound of
/// a micro-batch, in how many the search found a faster schedule than `optimal`, the greatest share by which a schedule
/// was faster, and the last such schedule.
struct Compared {
  int branching = 0, bounded = 0, faster = 0;
  double worst = 0;
  std::string schedule = {};
};

/// What compare() draws. If `unlike`, the devices differ in their rates, links and bytes. If `some_stay`, the weights
/// of some layers stay, so that the devices have different room beside them.
struct Draws {
  std::size_t layers = 4;  ///< at most this many
  bool overlap = false, unlike = false, some_stay = false;
};

/// Compares `optimal` with an exhaustive search of all schedules, in random networks with random budgets. No schedule
/// may be faster than the bounds that `optimal` reports.
Compared compare(std::uint64_t seed, int cases, const Draws& draws) {
  const auto [most, overlap, unlike, some_stay] = draws;
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
    std::optional<std::vector<bool>> stays;
    for (std::size_t l = 0; some_stay && l < layers.size(); ++l) {
      if (!stays) stays.emplace();
      stays->push_back(dice.one_in(2));
    }
    const PhasedRun run(1 + static_cast<int>(dice.below(100)), layers, overlap, devices, stays);
    compared.branching += run.branches();
    const auto [low, high] = run.peaks();
    std::vector<std::int64_t> budgets(
        2, low + (high - low) * static_cast<std::int64_t>(dice.below(9)) / 8);
    if (unlike) budgets[dice.below(2)] += static_cast<std::int64_t>(dice.below(200));
    INFO(run.text() << run.resident() << ", budgets " << budgets[0] << ", " << budgets[1]
                    << ", case " << k);
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
    if (find_fact(plan.facts, "micro_batch_bound_s")) {
      ++compared.bounded;
      // The run has one micro-batch. With overlap, a device may load its weights while another device loads the first
      // ones. So the bound then holds only for the whole run.
      const double before = overlap ? 0 : run.first_load_s();
      CHECK(std::min(best.seconds, optimal) - before >=
            number_of(plan, "micro_batch_bound_s") * (1 - 1e-9));
    }
    if (best.seconds == never) continue;
    CHECK(best.seconds >= bound * (1 - 1e-9));
    ++compared.faster;
    compared.schedule = "case " + std::to_string(k) + ": " + best.fastest;
    compared.worst = std::max(compared.worst, 1 - best.seconds / optimal);
  }
  CHECK(compared.branching > cases / 4);
  // With overlap, and on unlike devices, only few plans have a bound of a micro-batch.
  if (!overlap && !unlike) CHECK(compared.bounded > 0);
  return compared;
}

TEST_CASE("phased: without overlap, no schedule is faster than that of optimal", "[property]") {
  const Compared compared = compare(1121, test::cases_of(300), {});
  CAPTURE(compared.branching, compared.faster, compared.worst, compared.schedule);
  CHECK(compared.faster == 0);
}

TEST_CASE("phased: with overlap, no schedule is faster than that of optimal", "[property]") {
  const Compared compared = compare(1122, test::cases_of(100), {.layers = 3, .overlap = true});
  CAPTURE(compared.branching, compared.faster, compared.worst, compared.schedule);
  CHECK(compared.faster == 0);
}

// `optimal` uses as many bytes of each device as the smallest memory has. The exhaustive search also uses the others.
// So only the bound is compared here.
TEST_CASE("phased: on unlike devices, no schedule is faster than the bound of optimal",
          "[property]") {
  compare(1123, test::cases_of(60), {.unlike = true});
  compare(1124, test::cases_of(40), {.layers = 3, .overlap = true, .unlike = true});
}

TEST_CASE("phased: if some weights stay, no schedule is faster than that of optimal",
          "[property]") {
  const Compared compared = compare(1125, test::cases_of(200), {.some_stay = true});
  CAPTURE(compared.branching, compared.faster, compared.worst, compared.schedule);
  CHECK(compared.faster == 0);
}

// On unlike devices, the exhaustive search may use bytes that `optimal` leaves free, so it may be faster.
TEST_CASE("phased: if some weights stay on unlike devices, no schedule is faster than the bound",
          "[property]") {
  compare(1125, test::cases_of(120), {.unlike = true, .some_stay = true});
}

}  // namespace
}  // namespace sluice
