// Tests the bound and the gap of `optimal` for runs whose tensors are in two memories of a device. No run of another
// strategy for fates, with the same placement, may be faster than the bound.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "fates/strategy.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/drawn_layers.hpp"

namespace sluice {
namespace {

/// A random network and a machine with devices of two memories. The capacities are chosen later.
struct Drawn {
  std::string text;
  std::int64_t first = 0, second = 0;
  int micro_batches = 1;
};

Drawn drawn(test::Dice& dice, bool pair) {
  std::vector<test::Drawn> layers = test::random_layers(dice, 2 + dice.below(3));
  for (test::Drawn& layer : layers) layer.parameters = 1 + static_cast<int>(dice.below(50));
  const auto one_of = [&](const std::vector<std::string>& words) {
    return words[dice.below(words.size())];
  };
  Drawn made;
  made.micro_batches = 1 + static_cast<int>(dice.below(3));
  made.first = 400 + static_cast<std::int64_t>(dice.below(1600));
  made.second = 1200 + static_cast<std::int64_t>(dice.below(3000));
  const int image = 1 + static_cast<int>(dice.below(100));
  made.text = "format: sluice-scenario/1\n" + test::model_text(image, layers) +
              "platform:\n  format: sluice-platform/1\n  name: card\n  devices:\n    gpu:\n"
              "      rate: {float32: 1GFLOP/s}\n" +
              (pair ? "      count: 2\n" : "") +
              "      memory:\n      - {capacity: " + std::to_string(made.first) +
              "B, bandwidth: 1GB/s}\n      - {name: ddr, capacity: " + std::to_string(made.second) +
              "B, bandwidth: " + one_of({"1GB/s", "200MB/s", "50MB/s"}) +
              "}\n  memories: {host: {capacity: unlimited}}\n  links:\n"
              "    host: {joins: [host, gpu], bandwidth: " +
              one_of({"100MB/s", "1GB/s"}) + ", latency: " + one_of({"0us", "2us"}) +
              (pair ? ", sharing: private" : "") +
              "}\n    far: {joins: [gpu, gpu_ddr], bandwidth: " + one_of({"100MB/s", "10GB/s"}) +
              "}\nstages: per_layer\ncost: roofline\nworkload: {mode: training, batch: " +
              std::to_string(made.micro_batches) +
              ", micro_batch: 1, steps: " + std::to_string(1 + dice.below(2)) +
              ", optimizer: " + one_of({"none", "sgd", "adam"}) + "}\n";
  return made;
}

/// Throws Infeasible if the plan does not fit.
Plan plan_of(const std::string& text, const std::string& policy, const std::string& fates) {
  Plan plan = make_plan(read_scenario(
      parse_text(text + "policy: {name: " + policy + "}\nfates: " + fates + "\n", "drawn.yaml"),
      "drawn"));
  check(plan);
  return plan;
}

struct Counts {
  int bounds = 0, runs = 0, close = 0;
};

/// Compares the runs of all strategies with the bound of `optimal`, for random networks.
void compare(std::uint64_t seed, int cases, const std::string& policy, const std::string& placement,
             Counts& counts) {
  test::Dice dice(seed);
  for (int k = 0; k < cases; ++k) {
    const Drawn made = drawn(dice, policy == "phased");
    const std::string keys = policy + ", placement: " + placement +
                             (dice.one_in(3) ? ", overlap: false" : ", overlap: true");
    INFO(made.text << keys << ", case " << k);
    Plan best;
    try {
      best = plan_of(made.text, keys, "optimal");
    } catch (const Infeasible&) {
      continue;
    }
    const Fact* const bound = find_fact(best.facts, "run_bound_s");
    const Fact* const gap = find_fact(best.facts, "gap");
    if (!bound) {  // a plan that uses the first memory only has the gap of such plans
      CHECK(find_fact(best.facts, "gap", "placement none") != nullptr);
      continue;
    }
    REQUIRE(gap != nullptr);
    ++counts.bounds;
    const double bound_s = bound->number()->value, seconds = replay(best).makespan;
    CHECK(seconds >= bound_s * (1 - 1e-9));
    CHECK(gap->number()->value == Approx(1 - bound_s / seconds).margin(1e-9));
    counts.close += seconds <= bound_s * 1.05;
    for (const FateStrategy* strategy : fate_catalog().entries()) {
      if (!strategy->compared) continue;
      try {
        const std::string in_flight =
            policy == "resident"
                ? ""
                : ", in_flight: " + std::to_string(1 + dice.below(static_cast<std::uint64_t>(
                                                           made.micro_batches)));
        INFO(strategy->name << in_flight);
        const double other = replay(plan_of(made.text, keys + in_flight, strategy->name)).makespan;
        CHECK(other >= bound_s * (1 - 1e-9));
        ++counts.runs;
      } catch (const Infeasible&) {
      }
    }
  }
}

TEST_CASE("no run with tensors in two memories is faster than the bound of optimal",
          "[property][placement]") {
  std::uint64_t seed = 1300;
  for (const std::string policy : {"streamed", "phased", "resident"}) {
    Counts counts;
    for (const std::string placement :
         {"static", "first_touch", "all_slow", "synchronous", "asynchronous", "cached", "backing"})
      if (policy != "phased" || placement != "backing")
        compare(++seed, test::cases_of(1, 3), policy, placement, counts);
    INFO(policy << ": " << counts.bounds << " bounds, " << counts.runs << " runs, " << counts.close
                << " with a gap of at most 5 %");
    CHECK(counts.bounds > 2);
    CHECK(counts.runs > 15);
  }
}

}  // namespace
}  // namespace sluice
