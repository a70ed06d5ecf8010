// Tests which candidates are offered for training.
#include <catch2/catch.hpp>

#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Returns how many ways to list the loads are compared for two layers whose weights take turns, if host memory has
/// `host_bytes` bytes.
std::size_t ways_within(std::int64_t host_bytes) {
  const Scenario scenario =
      test::small_scenario(1000, {{1, 4000, 1000}, {1, 4000, 1000}},
                           "workload: {mode: training, batch: 2, micro_batch: 1, optimizer: adam}\n"
                           "stages: {cut: per_layer}\npolicy: {name: streamed}\n",
                           {"platform.memories.host.capacity=" + std::to_string(host_bytes) + "B"});
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request =
      request_of(scenario, cut, plain_fates(fate_catalog().find("keep_all")));
  TrainingOrder order{.policy = "tested", .weights_stay = false, .devices = {"gpu"}};
  std::size_t ways = 0;
  for (const Candidate& count : training_candidates(request, order))
    for (const Candidate& step : count.open()) ways += step.open().size();
  return ways;
}

TEST_CASE(
    "no order of loads is tried if host memory has no room for the tensors that begin there") {
  // Host memory holds 8 kB of weights, twice as many bytes for adam's state, and two inputs of 1 kB.
  CHECK(ways_within(8000 + 2 * 8000 + 2 * 1000) > 0);
  CHECK(ways_within(8000 + 2 * 8000 + 2 * 1000 - 1) == 0);
}

}  // namespace
}  // namespace sluice
