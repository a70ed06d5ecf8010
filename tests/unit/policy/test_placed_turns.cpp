// Placements of tensors under policy streamed: weights take turns, and tensors are in both memories of the device.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "planning/placement/turns/placed_kinds.hpp"
#include "policy/policy.hpp"
#include "run/isolated.hpp"
#include "scenario/scenario.hpp"
#include "support/both_executors.hpp"
#include "support/campaign.hpp"
#include "support/two_memory_card.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;
using test::on_card;

/// Returns the seconds of the run. Both executors must give the same seconds.
double seconds_of(const Scenario& scenario) {
  return test::seconds_in_both_executors(make_plan(scenario));
}

std::string one_by_one(const std::string& placement) {
  return "policy: {name: streamed, placement: " + placement +
         ", in_flight: 1, prefetch: 0, pieces: whole, resident: none, overlap: false}\n"
         "workload: {batch: 1, steps: 3}\n";
}

TEST_CASE("under streamed, kernels read and write each tensor in the memory where it is placed",
          "[placement]") {
  const auto seconds = [](std::int64_t first, const std::string& placement) {
    return seconds_of(on_card(first, 2000, one_by_one(placement)));
  };
  // In each step, the transfers take 80 + 40 s for the weights, 4 s for the input and 2 s for the answer. The first
  // product reads 840 bytes and writes 80 bytes. The second product reads 480 bytes and writes 20 bytes. In the second
  // memory, these bytes take 92 + 50 s.
  CHECK(seconds(500, "all_slow") == Approx(3 * (126 + 92 + 50)).epsilon(1e-9));
  // In the first memory, these bytes take 9.2 + 5 s. The first product needs 920 bytes there: 40 + 800 + 80.
  CHECK(seconds(920, "static") == Approx(3 * (126 + 9.2 + 5)).epsilon(1e-9));
  CHECK(seconds(920, "none") == Approx(3 * (126 + 9.2 + 5)).epsilon(1e-9));
  // If the first memory has one byte less, the input is in the second memory. Then a read of the input takes 4 s
  // instead of 0.4 s.
  CHECK(seconds(919, "static") == Approx(3 * (126 + 4 + 8.8 + 5)).epsilon(1e-9));
  // The second product needs 400 + 80 + 20 = 500 bytes. So if the first memory has 500 bytes, only the weights of the
  // first product are in the second memory.
  CHECK(seconds(500, "static") == Approx(3 * (126 + 80 + 1.2 + 5)).epsilon(1e-9));
  // If the first memory has one byte less, the answer is in the second memory, too. Then a write of the answer takes 2
  // s instead of 0.2 s.
  CHECK(seconds(499, "static") == Approx(3 * (126 + 80 + 1.2 + 2 + 4.8)).epsilon(1e-9));
  CHECK_THROWS_AS(make_plan(on_card(919, 2000, one_by_one("none"))), Infeasible);
}

TEST_CASE(
    "under streamed, the answer says how many bytes are in each memory, and the gap of the placement",
    "[placement]") {
  const Plan plan = make_plan(on_card(500, 2000, one_by_one("static")));
  CHECK(find_fact(plan.facts, "placement")->shown() == "static");
  // The first memory has 540 bytes of tensors: the weights of the second product (400), the input (40), the tensor
  // between the products (80) and the answer (20).
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu")->number()->value == 540);
  CHECK(find_fact(plan.facts, "placed_bytes", "gpu_ddr")->number()->value == 800);
  // The kernels of a step take 80 + 1.2 + 5 s. With all tensors in the first memory, they take 9.2 + 5 s.
  CHECK(find_fact(plan.facts, "placement_gap")->number()->value ==
        Approx((86.2 - 14.2) / 86.2).epsilon(1e-6));
  // With everything in the first memory, no placement is faster.
  for (const char* way : {"static", "first_touch", "asynchronous"}) {
    const Plan all = make_plan(on_card(2000, 2000, one_by_one(way)));
    CHECK(find_fact(all.facts, "placement_gap")->number()->value < 1e-6);
  }
}

TEST_CASE("under streamed, weights cross the link once if both memories together hold them",
          "[placement]") {
  // The first memory alone has room for the weights of only one group at a time. If only this memory is used, 1200
  // bytes of weights cross the link in each of 5 steps. Both memories together have room for all weights. If both are
  // used, each weight crosses the link only once.
  const auto planned = [](const std::string& placement) {
    return on_card(
        1000, 1400,
        "policy: {name: streamed, placement: " + placement + "}\nworkload: {batch: 1, steps: 5}\n");
  };
  const Plan plan = make_plan(planned("static"));
  for (const char* group : {"0", "1"})
    CHECK(find_fact(plan.facts, "weight_passes", group)->number()->value == 1);
  CHECK(seconds_of(planned("static")) < 0.8 * seconds_of(planned("none")));
}

std::string compared_in(const Plan& plan) {
  return find_fact(plan.facts, "placements_compared")->shown();
}

TEST_CASE("under streamed, the answer says which placements were compared and which was chosen",
          "[placement]") {
  const auto plan = [](std::int64_t first, const std::string& cost) {
    return make_plan(
        on_card(first, 1400, "policy: {name: streamed}\nworkload: {batch: 1, steps: 5}\n", cost));
  };
  const auto chosen = [&](std::int64_t first) {
    const Plan made = plan(first, "roofline");
    CHECK(compared_in(made) == "none, backing, static, all_slow");
    CHECK_THAT(find_fact(made.facts, "chosen")->shown(),
               Contains("placement: " + find_fact(made.facts, "placement")->shown()));
    return find_fact(made.facts, "placement")->shown();
  };
  CHECK(chosen(1000) == "backing");
  // The first product needs 920 bytes. The first memory alone does not hold these bytes.
  CHECK(chosen(900) == "static");
  // `peak` does not count the bandwidths of memories, so `static` and `all_slow` are refused.
  CHECK(compared_in(plan(1000, "peak")) == "none, backing");
}

/// Returns a scenario with the cost model `measured`. Both products were measured with all operands in the first
/// memory: the first product took 3 s, and the second product 2 s. `rows` has further rows of the profile, and
/// `outside` prices all other placements.
Scenario measured_in_first_memory(const std::string& outside, const std::string& placement,
                                  const std::string& rows = "") {
  const auto file = std::filesystem::temp_directory_path() /
                    ("sluice_placed_turns_" + std::to_string(getpid()) + ".csv");
  std::ofstream(file) << "# format: sluice-profile/1\n"
                         "operator,config,inputs,batch,input_pools,output_pools,seconds_median\n"
                         "dense,dense bias=false features=20 sparsity=0,1x10,1,gpu;gpu,gpu,3\n"
                         "dense,dense bias=false features=5 sparsity=0,1x20,1,gpu;gpu,gpu,2\n"
                      << rows;
  Scenario scenario = on_card(
      1000, 1400,
      "policy: {name: streamed, placement: " + placement + "}\nworkload: {batch: 1, steps: 5}\n");
  Value cost = parse_text("{model: measured, outside: " + outside + "}", "cost.yaml");
  cost.set("profile", Value::make(file.string()));
  scenario.cost = choose_cost(cost, "", scenario.platform);
  std::filesystem::remove(file);
  return scenario;
}

TEST_CASE(
    "under streamed, an open placement is as fast as static if static was measured only in part",
    "[placement]") {
  // Only kernels with all operands in the first memory were measured. The cost model `peak` gives the seconds of
  // kernels with an operand in the second memory. Under `peak`, these kernels take almost no time.
  const Plan open = make_plan(measured_in_first_memory("peak", "auto"));
  CHECK(compared_in(open) == "none, backing, static, all_slow");
  const double seconds = replay(open).makespan;
  CHECK(seconds <= seconds_of(measured_in_first_memory("peak", "static")) * (1 + 1e-9));
  CHECK(seconds < seconds_of(measured_in_first_memory("peak", "none")));
  CHECK(seconds < seconds_of(measured_in_first_memory("peak", "backing")));
}

TEST_CASE("under streamed, all_slow is compared if it was measured but static was not",
          "[placement]") {
  // Each product was also measured with one operand in the second memory, where it took 4 s, and with all three
  // operands there, where it took 0.1 s. Placements with two operands there have no price.
  std::string slow;
  for (const char* product : {"dense,dense bias=false features=20 sparsity=0,1x10,1,",
                              "dense,dense bias=false features=5 sparsity=0,1x20,1,"})
    for (const char* pools : {"gpu_ddr;gpu,gpu,4", "gpu;gpu_ddr,gpu,4", "gpu;gpu,gpu_ddr,4",
                              "gpu_ddr;gpu_ddr,gpu_ddr,0.1"})
      slow += std::string(product) + pools + "\n";
  const auto planned = [&](const std::string& placement) {
    return make_plan(measured_in_first_memory("refuse", placement, slow));
  };
  CHECK_THROWS_AS(planned("static"), InputError);
  const Plan open = planned("auto");
  CHECK(compared_in(open) == "none, backing, all_slow");
  CHECK(find_fact(open.facts, "placement")->shown() == "all_slow");
  CHECK(replay(open).makespan <= replay(planned("all_slow")).makespan * (1 + 1e-9));
}

TEST_CASE("under streamed, the answer names no placement whose prices are not known",
          "[placement]") {
  CHECK(compared_in(make_plan(measured_in_first_memory("refuse", "auto"))) == "none, backing");
  CHECK_THROWS_WITH(make_plan(measured_in_first_memory("refuse", "static")),
                    Contains("it was measured with gpu;gpu and gpu"));
}

TEST_CASE("a placed stage without a price has no price when it is asked for again", "[placement]") {
  const Scenario scenario = measured_in_first_memory("refuse", "static");
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_of(scenario, cut, {});
  PlacedPrices prices(request, {"gpu"});
  const StageWork one{.stage = 0, .samples = 1};
  CHECK(prices.of(one, {}).seconds == 3);
  for (int n = 0; n < 2; ++n)
    CHECK_THROWS_AS(prices.of(one, {{TensorClass::weight, 0}}), InputError);
}

TEST_CASE("with all_slow, a working set that is not counted stays in the first memory",
          "[placement]") {
  const auto check_least = [](const std::string& working_set, double one_s, double two_s) {
    Value document =
        on_card(500, 2000, one_by_one("all_slow") + "memory: {working_set: " + working_set + "}\n")
            .document;
    apply_overrides(document, {"stages={cut: whole}"});
    const Scenario scenario = read_scenario(document, "card");
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request = request_of(scenario, cut, {});
    const PlacedPrices prices(request, {"gpu"});
    CHECK(prices.least_seconds({.layer = 1, .samples = 1, .all_slow = true}) ==
          Approx(one_s).epsilon(1e-9));
    CHECK(prices.least_seconds({.layer = 2, .samples = 1, .all_slow = true}) ==
          Approx(two_s).epsilon(1e-9));
  };
  // The first product reads 840 bytes and writes 80 bytes; the second product reads 480 bytes and writes 20 bytes.
  check_least("counted", 92, 50);
  // The 80 bytes between the products are in the first memory, and take 0.8 s for each product.
  check_least("ignored", 84 + 0.8, 42 + 0.8);
}

TEST_CASE("under streamed, a placement that is not possible is refused at its key", "[placement]") {
  const auto says = [](const std::string& more, const std::string& words,
                       const std::vector<std::string>& overrides = {}) {
    Value document = on_card(1000, 2000, more).document;
    apply_overrides(document, overrides);
    CHECK_THROWS_WITH(make_plan(read_scenario(document, "card")), Contains(words));
  };
  const std::string placed = "policy: {name: streamed, placement: static}\n";
  says(placed + "workload: {batch: 1}\n",
       "needs a cost model that counts the bandwidths of memories, but 'peak' does not",
       {"cost={model: peak}"});
  says(placed + "workload: {batch: 1}\n",
       "'placement: static' needs a device with a second memory of its own: device 'gpu' has only "
       "one memory; use policy resident",
       {"platform.devices.gpu.memory={capacity: 1kB, bandwidth: 100B/s}",
        "platform.links={host: {joins: [host, gpu], bandwidth: 10B/s}}"});
  CHECK_THROWS_WITH(
      on_card(1000, 2000, "policy: {name: streamed, placement: all_fast}\nworkload: {batch: 1}\n"),
      Contains("'all_fast' for 'placement': expected one of: none, auto, backing, static, "
               "synchronous, asynchronous, first_touch, all_slow, cached"));
  // The first product needs 920 bytes, of which its weights take 800. These weights fit into neither of the two
  // memories.
  CHECK_THROWS_WITH(make_plan(on_card(100, 700, placed + "workload: {batch: 1}\n")),
                    Contains("no plan with placement static fits into the memories 'gpu' and "
                             "'gpu_ddr' together"));
}

TEST_CASE(
    "under streamed with a placement, a run is never slower with more memory or with more freedom",
    "[placement][property]") {
  for (std::uint64_t seed = 0; seed < test::cases_of(std::uint64_t{10}); ++seed) {
    test::Dice dice(seed);
    const std::string workload = "workload: {batch: " + std::to_string(1 + dice.below(3)) +
                                 ", batches_per_step: " + std::to_string(1 + dice.below(3)) +
                                 ", steps: " + std::to_string(1 + dice.below(4)) + "}\n";
    const std::string more = dice.one_in(3) ? ", overlap: false" : "";
    const auto with = [&](std::int64_t first, std::int64_t second, const std::string& placement) {
      try {
        return seconds_of(
            on_card(first, second,
                    "policy: {name: streamed, placement: " + placement + more + "}\n" + workload));
      } catch (const Infeasible&) {
        return std::numeric_limits<double>::infinity();
      }
    };
    double before = std::numeric_limits<double>::infinity(), open_before = before;
    std::int64_t first = 100, second = 1000;
    for (int n = 0; n < 5; ++n) {
      (dice.one_in(2) ? first : second) += 1 + static_cast<std::int64_t>(dice.below(900));
      INFO("seed " << seed << ", " << first << " and " << second << " bytes");
      const double seconds = with(first, second, "static");
      CHECK(seconds <= with(first, second, "none") * (1 + 1e-9));
      CHECK(seconds <= with(first, second, "all_slow") * (1 + 1e-9));
      CHECK(seconds <= before * (1 + 1e-9));
      before = seconds;
      const double open = with(first, second, "auto");
      CHECK(open <= std::min(seconds, open_before) * (1 + 1e-9));
      open_before = open;
    }
  }
}

}  // namespace
}  // namespace sluice
