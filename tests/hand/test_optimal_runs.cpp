// Tests the strategy `optimal` in whole runs, with steps, updates and weights.
#include <catch2/catch.hpp>

#include <random>

#include "base/error.hpp"
#include "base/version.hpp"
#include "execute/arithmetic/replay.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Row;

const std::string extra =
    "workload: {mode: training, batch: 1, optimizer: sgd, steps: 3}\nstages: {cut: per_layer}\n"
    "policy: {name: resident}\n";

std::string fact(const Plan& plan, const std::string& name, const std::string& of = {}) {
  const Fact* fact = find_fact(plan.facts, name, of);
  return fact ? fact->shown() : "";
}

Plan plan_of(const std::vector<Row>& rows, const std::string& fates, std::int64_t capacity) {
  return make_plan(test::small_scenario(
      4000, rows, extra + "fates: {strategy: " + fates + "}\n",
      {"platform.devices.gpu.memory.capacity=" + std::to_string(capacity) + "B"}));
}

TEST_CASE("if keep_all fits, optimal is at least as fast as keep_all") {
  std::mt19937 random(5);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int k = 0; k < 12; ++k) {
    std::vector<Row> rows;
    for (int s = between(2, 5); s-- > 0;)
      rows.push_back({between(1, 20) * 1e-3, 4 * between(25, 3000), 4 * between(25, 3000)});
    const std::int64_t needed =
        replay(plan_of(rows, "keep_all", std::int64_t{1} << 40)).peaks.front();
    for (const std::int64_t capacity : {needed, needed + 100, needed + 4000, 2 * needed}) {
      const Plan optimal = plan_of(rows, "optimal", capacity);
      const double kept = replay(plan_of(rows, "keep_all", capacity)).makespan;
      CHECK(replay(optimal).makespan <= kept * (1 + 1e-9));
    }
  }
}

/// Each of 3 layers takes 1 ms forward and 2 ms backward, without overlap. The output of a layer has 1.2 MB, and its
/// transfer takes 1.2 ms in each direction. The weights of a layer have 1 kB. Stage 2 is the last stage. The backward
/// pass of stage 2 needs boundaries 2 and 3. Boundary 1 may be kept, recomputed (1 ms) or offloaded (2 x 1.2 ms).
TEST_CASE("optimal reports how many seconds per step one more GB saves, as computed by hand") {
  const std::vector<Row> rows(3, {1, 1000, 1'200'000});
  const auto plan_within = [&](const std::string& budget) {
    return make_plan(test::small_scenario(
        4000, rows, extra + "fates: {strategy: optimal, budget: " + budget + "}\n",
        {"policy.overlap=false"}));
  };
  const Plan wide = plan_within("1GB");
  CHECK(fact(wide, "one_more_GB_saves_s") == "0 s");
  CHECK(fact(wide, "gap") == "0");
  // The budget is 1 MB too small for all boundaries. So one boundary of 1.2 MB cannot be kept, and 1 ms is added for
  // each of 3 micro-batches. The bound knows that a boundary is kept as a whole or not at all, so the gap is 0.
  const Plan all = wide;
  const std::int64_t weights = 2 * 3 * 1000;
  const std::int64_t needed = replay(all).peaks.front() - weights;
  const Plan tight = plan_within(std::to_string(needed - 1'000'000) + "B");
  CHECK(fact(tight, "gap") == "0");
  CHECK(fact(tight, "one_more_GB_saves_s") == "1 ms");
  CHECK(replay(tight).makespan - replay(wide).makespan == Approx(3 * 1e-3).epsilon(1e-9));
}

TEST_CASE("a refusal of optimal lists the bytes of the schedule with the least bytes, by class") {
  const std::vector<Row> rows(3, {1, 1000, 1'200'000});
  for (const char* overlap : {"true", "false"}) {
    INFO(overlap);
    try {
      make_plan(test::small_scenario(
          4000, rows, extra + "fates: {strategy: optimal}\n",
          {std::string("policy.overlap=") + overlap, "platform.devices.gpu.memory.capacity=2MB"}));
      FAIL("the plan was not refused");
    } catch (const Infeasible& error) {
      const Shortage& shortage = error.shortage;
      CHECK(shortage.pool == "gpu");
      CHECK(shortage.available_bytes == 2'000'000);
      std::int64_t sum = 0;
      for (const auto& [tensor_class, bytes] : shortage.by_class) {
        // Each of the 3 layers has 1 kB of weights and 1 kB of gradients. The input has 4 kB, and each output has
        // 1.2 MB.
        const bool stay = tensor_class == "weight" || tensor_class == "gradient";
        CHECK((bytes - (stay ? 3 * 1000 : 0)) % 4000 == 0);
        sum += bytes;
      }
      CHECK(shortage.by_class.size() > 1);
      CHECK(shortage.needed_bytes == sum);
    }
  }
}

TEST_CASE("optimal recomputes the core of the attention if this is the fastest choice that fits") {
  const auto seconds = [](const std::string& strategy, const std::string& capacity) {
    return replay(make_plan(load_scenario(data_root() + "/scenarios/megatron_22b.yaml",
                                          {"fates.strategy=" + strategy,
                                           "platform.devices.gpu.memory.capacity=" + capacity})))
        .makespan;
  };
  // All tensors together have 92.7 GB. For a smaller memory, the paper that the scenario names chooses `selective`.
  for (const char* capacity : {"80GB", "70GB"}) {
    const double optimal = seconds("optimal", capacity);
    CHECK(optimal <= seconds("selective", capacity) * (1 + 1e-9));
    CHECK(optimal < 0.9 * seconds("checkpoint", capacity));
  }
  CHECK(seconds("optimal", "100GB") == Approx(seconds("keep_all", "100GB")).epsilon(1e-9));
}

}  // namespace
}  // namespace sluice
