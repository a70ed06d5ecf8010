#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "document/load.hpp"
#include "execute/arithmetic/replay.hpp"
#include "scenario/scenario.hpp"

namespace sluice {
namespace {

using Catch::Matchers::Contains;

/// Two products of 10 by 20 and 20 by 5 in float32: 40 bytes in, weights of 800 bytes, 80 bytes
/// between, weights of 400 bytes, 20 bytes out. DRAM at 100 byte/s, PMEM at 10, no time to compute;
/// copies at 2 byte/s. Host memory is PMEM.
Scenario two_products(const std::string& dram, const std::string& workload = "batch: 1, steps: 3",
                      const std::string& more = "policy: {name: resident, placement: static}\n") {
  return read_scenario(parse_text(R"(format: sluice-scenario/1
model:
  definition:
    format: sluice-model/1
    name: two
    layers:
    - {type: input, name: image, shape: [10]}
    - {type: dense, name: one, features: 20, bias: false}
    - {type: dense, name: two, features: 5, bias: false}
platform:
  format: sluice-platform/1
  name: server
  devices:
    cpu: {rate: {float32: 1000TFLOP/s}, memory: [dram, pmem]}
  memories:
    dram: {capacity: )" + dram + R"(, bandwidth: 100B/s}
    pmem: {capacity: 40000B, bandwidth: 10B/s}
  links:
    copy: {joins: [dram, pmem], bandwidth: 2B/s}
stages: {cut: per_layer}
)" + more + "workload: {" + workload + "}\n",
                                  "two.yaml"),
                       "two");
}

double seconds_of(const Scenario& scenario) {
  return replay(make_plan(scenario)).makespan;
}

TEST_CASE("inference with its tensors in two memories, by hand", "[placement]") {
  // 60 bytes of DRAM are for an input and an answer on their way: 940 bytes hold the first weights,
  // what is between, an input and the answer, and not the second weights. Those 800 bytes come in
  // 400 s. The first product reads 800 bytes and writes 80 in DRAM in 8.8 s, and the image of 40 in
  // PMEM in 4 s. The second one reads 80 and writes 20 in DRAM, and reads 400 in PMEM: 41 s. The
  // answer leaves in 10 s.
  const Scenario scenario = two_products("1000B");
  CHECK(seconds_of(scenario) == Approx(400 + 3 * (12.8 + 41) + 10));
  // Ten images come to DRAM beside the products, but the first, in 20 s, and are read in 0.4 s
  // each.
  CHECK(seconds_of(two_products("1000B", "batch: 1, steps: 10")) ==
        Approx(400 + 20 + 10 * (9.2 + 41) + 10));
  const Plan plan = make_plan(scenario);
  for (const Action& action : plan.actions)
    if (!action.is_transfer() && action.stage == 1) CHECK(action.seconds == Approx(41));
  // With room for nothing but what is on its way everything lies in PMEM, and nothing is copied:
  // (40 + 800 + 80 + 80 + 400 + 20) / 10.
  CHECK(seconds_of(two_products("60B")) == Approx(3 * 142));
}

TEST_CASE("reading inputs in place is compared with copying them", "[placement]") {
  // Both weights in DRAM, in 600 s, and the first product begins at 400 s. An image of 40 bytes is
  // copied in 20 s, or read in place in 4 s instead of 0.4: 12.8 + 5 s for an image. The second
  // product waits for its weights.
  const Scenario scenario = two_products("4000B");
  CHECK(seconds_of(scenario) == Approx(600 + 5 + 2 * (12.8 + 5) + 10));
}

TEST_CASE("training places gradients and optimizer state, too", "[placement]") {
  const std::string workload =
      "mode: training, batch: 4, micro_batch: 2, steps: 2, optimizer: momentum, backward: "
      "per_layer";
  double before = std::numeric_limits<double>::infinity();
  for (const char* dram : {"300B", "1000B", "2000B", "3000B", "5000B", "9000B"}) {
    const Plan plan = make_plan(two_products(dram, workload));
    const ReplayResult result = replay(plan);
    REQUIRE_FALSE(result.blocking);
    std::int64_t samples = 0;
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
      samples += plan.actions[a].samples_done * plan.executions_of(a);
    CHECK(samples == 2 * 4);
    // Kernels take no longer with more DRAM.
    double kernels = 0;
    for (const Action& action : plan.actions)
      if (!action.is_transfer()) kernels += action.seconds;
    CHECK(kernels <= before * (1 + 1e-9));
    before = kernels;
  }
}

TEST_CASE("placement auto is as fast as the fastest of all placements", "[placement]") {
  for (const char* workload : {"batch: 1, steps: 3", "batch: 2, steps: 40",
                               "mode: training, batch: 2, optimizer: sgd, backward: per_layer"}) {
    const auto with = [&](const std::string& placement) {
      return seconds_of(two_products("12000B", workload,
                                     "policy: {name: resident, placement: " + placement + "}\n"));
    };
    CHECK(with("auto") ==
          Approx(std::min({with("none"), with("static"), with("first_touch"), with("all_slow")})));
  }
  // Where the first memory is too small, placing is all that there is.
  const auto with = [](const std::string& placement) {
    return two_products("1000B", "batch: 1",
                        "policy: {name: resident, placement: " + placement + "}\n");
  };
  CHECK_THROWS_AS(seconds_of(with("none")), Infeasible);
  CHECK(seconds_of(with("auto")) == Approx(142));  // all_slow: nothing is loaded for one batch
}

TEST_CASE("a placement that cannot be is refused at its key", "[placement]") {
  const auto says = [](const std::string& more, const std::string& workload, const char* dram,
                       const std::string& words) {
    try {
      make_plan(two_products(dram, workload, more));
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains(words));
    }
  };
  const std::string training = "mode: training, batch: 2, optimizer: sgd, backward: per_layer";
  says("policy: {name: resident, placement: static}\ncost: {model: peak}\n", "batch: 1", "1000B",
       "needs a cost model that counts the bandwidths of memories, and 'peak' does not");
  says("policy: {name: resident, placement: static}\nfates: recompute_all\n", training, "1000B",
       "the fates are 'recompute_all': expected placement none, or fates keep_all");
  says("policy: {name: resident, placement: static}\n", "batch: 1", "59B",
       "an input and an answer in transfer take more than the 59 B of 'dram'");
  says("policy: {name: resident, placement: static}\n", training, "10B",
       "an input and an answer in transfer take more than the 10 B of 'dram'");
  CHECK_THROWS_WITH(
      two_products("1000B", "batch: 1", "policy: {name: resident, placement: cached}\n"),
      Contains("'cached' for 'placement': expected one of: none, auto, static"));
  CHECK_THROWS_WITH(
      two_products("1000B", "batch: 1", "policy: {name: streamed, placement: static}\n"),
      Contains("unknown key 'placement' in policy streamed"));
}

}  // namespace
}  // namespace sluice
