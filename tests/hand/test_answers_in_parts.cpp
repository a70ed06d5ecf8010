// Tests an answer in several parts under policy `streamed`. Each part is saved as soon as it is made. The device has 1
// GFLOP/s. The link has 1 GB/s, so 1 MB takes 1 ms.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/version.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

using test::small_scenario;

/// The first layer takes 1 ms and has 40 kB of weights and an output of 4 kB. The second layer takes 2 ms and has 80 kB
/// of weights and an output of 8 kB. A cut into three equal shares of the weights divides the
/// second layer into two halves. The input has 4 kB.
Scenario halves(const std::string& capacity, const std::string& keys = {}) {
  return small_scenario(4000, {{1, 40'000, 4000}, {2, 80'000, 8000}},
                        "workload: {batches_per_step: 1}\nstages: {cut: by_weight, groups: 3}\n"
                        "fates: {strategy: keep_all}\npolicy: {name: streamed, in_flight: 1, "
                        "buffers: 1, prefetch: 0, pieces: whole, ahead: 0B, resident: none" +
                            keys + "}\n",
                        {"platform.devices.gpu.memory.capacity=" + capacity});
}

TEST_CASE(
    "the first half of an answer is saved while the second half is made, and then frees its "
    "bytes") {
  // The weights (0.04 ms) and the input (0.004 ms) are loaded, and the first layer ends at 1.044 ms. The weights of the
  // first half take 0.04 ms, and the first half ends at 2.084 ms. The answer of the first half is saved while the
  // weights of the second half are loaded (0.04 ms). The second half ends at 3.124 ms, and the save of its answer takes
  // 0.004 ms. The device holds 48 kB: 40 kB of weights, 4 kB of input, which both halves read, and 4 kB for half of the
  // answer.
  const Scenario scenario = halves("48kB");
  REQUIRE(cut_model(scenario).stages.size() == 3);
  const Plan plan = make_plan(scenario);
  check(plan);
  const ReplayResult result = replay(plan);
  CHECK(result.makespan == Approx(3.128e-3).epsilon(1e-9));
  CHECK(execute_isolated(plan).report.makespan == Approx(3.128e-3).epsilon(1e-9));
  CHECK_THROWS_AS(check(make_plan(halves("47996B"))), Infeasible);
  double samples = 0;
  for (const Action& action : plan.actions) samples += static_cast<double>(action.samples_done);
  CHECK(samples == 1);
}

TEST_CASE("an answer that is discarded is dropped part by part") {
  const Plan plan = make_plan(halves("48kB", ", outputs: discard"));
  check(plan);
  // The times are as in the previous test, but without the last save of 0.004 ms.
  CHECK(replay(plan).makespan == Approx(3.124e-3).epsilon(1e-9));
  CHECK(execute_isolated(plan).report.makespan == Approx(3.124e-3).epsilon(1e-9));
}

/// Returns a scenario of GPT-2 in float32 for 8 samples, with all choices open, on a card with `capacity` bytes.
Scenario streamed_gpt2(const std::string& capacity) {
  return load_scenario(data_root() + "/scenarios/alexnet_x200.yaml",
                       {"model={file: ../models/gpt2.yaml}", "workload.batches_per_step=8",
                        "platform.devices.gpu.memory.capacity=" + capacity});
}

TEST_CASE("GPT-2 streams through a card that has no room for its embedding table") {
  // The embedding table has 154 MB, and the logits of a sample have 206 MB. The device needs far fewer bytes at one
  // moment: the input and the output of a block (1024 x 768 elements each) and one part of the table.
  const Plan small = make_plan(streamed_gpt2("100MB"));
  check(small);
  const Plan large = make_plan(streamed_gpt2("400MB"));
  // The answers, 8 x 1024 x 50257 elements of 4 bytes, cross the link at 30 GB/s.
  const double answers = 8 * 1024 * 50257 * 4 / 30e9;
  const double slow = replay(small).makespan, fast = replay(large).makespan;
  CHECK(fast > answers);
  CHECK(slow > fast);
  CHECK(slow < 4 * answers);
}

}  // namespace
}  // namespace sluice
