// Tests training on devices that take turns: the results that they hand over to each other, and what they keep.
#include "support/training_case.hpp"

namespace sluice {
namespace {

using namespace training_case;

/// Layers A, B and C compute for 1, 2 and 3 ms. Their outputs have 2, 3 and 1 MB, so that copies take as many
/// milliseconds. Their weights have 4 bytes each.
const std::vector<Row> large = {{1, 4, 2'000'000}, {2, 4, 3'000'000}, {3, 4, 1'000'000}};
const std::vector<std::string> pair = {"platform.devices.gpu.count=2",
                                       "platform.links.host.sharing=private"};
const std::string one = "workload: {mode: training, batch: 1, micro_batch: 1, optimizer: none}\n" +
                        cut + "policy: {name: phased, in_flight: 1";

Plan trained(const std::string& fates, const std::string& overlap) {
  return make_plan(small_scenario(
      1000, large, one + ", overlap: " + overlap + "}\nfates: {strategy: " + fates + "}\n", pair));
}

double gap_of(const Plan& plan) {
  return std::get<Fact::Number>(find_fact(plan.facts, "gap")->value).value;
}

// Device 0 computes stages A and C, and device 1 computes stage B. The weights of A (4 ns) and the input (0.001 ms)
// arrive. Then the passes FA, FB, FC, BC, BB and BA take 1, 2, 3, 6, 4 and 2 ms. FB waits for A's output, for 2 x 2 ms.
// FC waits for B's output, for 2 x 3 ms. BB waits for the gradient of B's output, for 2 x 3 ms. BA waits for the gradient
// of A's output, for 2 x 2 ms. BC and BB make gradients of weights, too. These are saved after the results for the other
// device. At the end, the gradients of A's weights are saved (4 ns). The bound does not count all of the input's load.
TEST_CASE("phased training: each result for another device is waited for, and the bound says so") {
  const Plan plan = trained("optimal", "true");
  CHECK(makespan_of(plan) == ms(0.000004 + 0.001 + 18 + 20 + 0.000004));
  CHECK(gap_of(plan) >= 0);
  CHECK(gap_of(plan) <= 0.001 / 38);
}

// Without overlap, the weights of A and B are loaded twice, and those of C once. The gradients of all weights are saved.
// These 5 + 3 copies take 4 ns each.
TEST_CASE("phased training without overlap: the bound of optimal counts all copies") {
  const Plan plan = trained("optimal", "false");
  CHECK(makespan_of(plan) == ms(8 * 0.000004 + 0.001 + 18 + 20));
  CHECK(gap_of(plan) == Approx(0).margin(1e-9));
}

TEST_CASE("phased training: a device keeps the tensors of its own stages") {
  // The host sends the input, A's output for B, B's output for C, and the two gradients. Nothing else is loaded but
  // weights. So each backward pass finds the input of its stage.
  std::int64_t bytes = 0;
  for (const Action& action : trained("keep_all", "false").actions)
    if (action.kind == ActionKind::load) bytes += action.moved_bytes();
  CHECK(bytes == 1000 + 2 * (2'000'000 + 3'000'000) + 5 * 4);
}

}  // namespace
}  // namespace sluice
