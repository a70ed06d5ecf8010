// Tests runs in which some weights stay on the device while other weights take turns. The times are calculated by hand.
// With 1 GFLOP/s and 1 GB/s, 1 MB takes 1 ms.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::Row;
using test::small_scenario;

/// The layers A and B take 0.5 ms each. Each layer has weights of 1 MB and an output of 1 kB. The input has 1 kB.
const std::vector<Row> two = {{0.5, 1'000'000, 1000}, {0.5, 1'000'000, 1000}};

/// Returns a plan in which each layer is a group. Only one micro-batch is in flight, so each of the four micro-batches
/// of a step is a pass over the model.
Plan plan_of(const std::string& policy, int steps = 1, const std::string& capacity = "1GB") {
  return make_plan(
      small_scenario(1000, two,
                     "workload: {batches_per_step: 4, steps: " + std::to_string(steps) +
                         "}\nstages: {cut: per_layer}\nfates: {strategy: "
                         "keep_all}\npolicy: {name: " +
                         policy + "}\n",
                     {"platform.devices.gpu.memory.capacity=" + capacity}));
}

double makespan_of(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
  return replayed;
}

Approx ms(double value) {
  return Approx(value * 1e-3).epsilon(1e-9);
}

double fact(const Plan& plan, const std::string& key, const std::string& of = {}) {
  const Fact* found = find_fact(plan.facts, key, of);
  return found && found->number() ? found->number()->value : -1;
}

const std::string one_by_one = "streamed, in_flight: 1, buffers: 2, pieces: whole";

TEST_CASE(
    "residency: if all weights stay and all choices are given, the run takes as long as under "
    "policy resident") {
  // All weights take 2 ms, and the first input takes 0.001 ms. The computation takes 4 x 1 ms, and the last answer
  // takes 0.001 ms.
  const Plan plan = plan_of(one_by_one + ", prefetch: 1, resident: all");
  CHECK(makespan_of(plan) == ms(6.002));
  CHECK(makespan_of(plan_of("resident, buffers: 2")) == ms(6.002));
  CHECK(fact(plan, "resident_bytes") == 2000000);
  CHECK(fact(plan, "weight_passes", "0") == 1);
}

TEST_CASE(
    "residency: in a single step, weights that stay are loaded when the first pass needs them") {
  // The input takes 0.001 ms, the weights of A take 1 ms, and A ends at 1.501 ms. The weights of B arrive at 2.001 ms,
  // and B ends at 2.501 ms. Then three micro-batches take 1 ms each, and the last answer takes 0.001 ms.
  CHECK(makespan_of(plan_of(one_by_one + ", resident: all")) == ms(5.502));
  // If no weights stay, the link transfers the first input. Then it transfers the weights of A and B four times each,
  // in 8 x 1 ms. The other inputs come when the device has no room for more weights, or between two loads of weights.
  // At the end, B is computed and the answer is saved.
  const double none = makespan_of(plan_of(one_by_one + ", resident: none"));
  CHECK(none >= 8.502e-3 * (1 - 1e-9));
  CHECK(none <= 8.505e-3 * (1 + 1e-9));
  // With the choice left open, the plan is at least as fast as with `resident: all`.
  CHECK(makespan_of(plan_of(one_by_one)) <= 5.502e-3 * (1 + 1e-9));
}

TEST_CASE(
    "residency: in a run of many steps, weights that stay are loaded once, before the "
    "first step") {
  // First, the input (0.001 ms) and all weights are loaded. A's weights arrive at 1.001 ms, and B's weights arrive at
  // 2.001 ms. A ends at 1.501 ms, and B runs from 2.001 ms to 2.501 ms. The 3 steps have 4 micro-batches each. So 11
  // micro-batches are left, which take 0.5 + 0.5 ms each in A and B. The last answer takes 0.001 ms.
  const Plan plan = plan_of(one_by_one + ", resident: all", 3);
  CHECK(makespan_of(plan) <= 13.504e-3 * (1 + 1e-9));
  CHECK(makespan_of(plan) >= 13.502e-3 * (1 - 1e-9));
  std::int64_t bytes = 0;
  for (std::uint32_t a = 0; a < plan.body_begin; ++a)
    for (const Placement& brought : plan.actions[a].allocates)
      if (plan.tensors[brought.tensor].tensor_class == TensorClass::weight)
        bytes += plan.tensors[brought.tensor].bytes;
  CHECK(bytes == 2'000'000);
}

TEST_CASE("residency: weights that stay keep their room for the whole run") {
  // If A's weights must stay, all weights (2 MB) and the tensors between A and B must fit together. Otherwise there is
  // no plan.
  CHECK_NOTHROW(plan_of("streamed, resident: [1]", 2, "2005kB"));
  CHECK_THROWS_AS(plan_of("streamed, resident: [1]", 2, "2000kB"), Infeasible);
  // If no weights stay, each group fits when it is alone. So a scenario that leaves the choice open is not refused.
  CHECK_NOTHROW(plan_of("streamed", 2, "1005kB"));
}

TEST_CASE("residency: impossible values are refused at their position") {
  CHECK_THROWS_AS(plan_of("streamed, resident: [3]"), InputError);
  CHECK_THROWS_AS(plan_of("streamed, resident: some"), InputError);
  CHECK_THROWS_AS(make_plan(small_scenario(1000, two, "policy: {name: streamed, resident: [1]}\n")),
                  InputError);  // as long as the cut is open, stages have no numbers
  const std::string training = "workload: {mode: training, batch: 4, micro_batch: 1}\n";
  CHECK_THROWS_AS(
      make_plan(small_scenario(1000, two, training + "policy: {name: streamed, resident: [1]}\n")),
      InputError);
  CHECK_NOTHROW(
      make_plan(small_scenario(1000, two, training + "policy: {name: streamed, resident: all}\n")));
}

}  // namespace
}  // namespace sluice
