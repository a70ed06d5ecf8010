// Tests the candidates of streamed inference: their lower bounds, and limits of early loads with extreme numbers of
// bytes.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "planning/streaming/choices.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

/// Divides the candidate into several candidates by Candidate::open, and divides these again. Checks the rule that the
/// judge relies on: no candidate that comes from another candidate has a smaller bound than that other candidate.
/// Returns the number of candidates that were divided.
int check_bounds(const Candidate& candidate) {
  if (!candidate.open) return 0;
  int opened = 1;
  for (const Candidate& one : candidate.open()) {
    CHECK(one.at_least >= candidate.at_least * (1 - 1e-12));
    opened += check_bounds(one);
  }
  return opened;
}

// The weights of eleven groups, 200 kB in total, take turns in ten passes over the model. The set-up of each load takes
// 50 us. If a part of each group stays (the order `by_need`), 6/8 of the weights can stay. But then each pass loads the
// rest of each group, and the set-ups of these 110 loads take 5.5 ms. In the order `by_work`, only 3/8 can stay: seven
// of the small groups and half of another small group, which are loaded once in 0.475 ms. But then each pass loads only
// the large group, two small groups and the other half, in 0.325 ms. All loads together take 3.725 ms.
TEST_CASE(
    "a candidate of streamed inference is bounded by its fastest choice of weights that stay") {
  std::vector<test::Row> rows = {{0.1, 100'000, 500}};
  for (int small = 0; small < 10; ++small) rows.push_back({0.001, 10'000, 500});
  const Scenario scenario = test::small_scenario(
      500, rows,
      "workload: {batches_per_step: 10}\nstages: {cut: per_layer}\nfates: keep_all\n"
      "policy: {name: streamed, in_flight: 1}\n",
      {"platform.devices.gpu.memory.capacity=177kB", "platform.links.host.setup=50us"});
  const CutModel cut = cut_model(scenario);
  const PolicyRequest request = request_of(scenario, cut, {});
  const Policy& streamed = policy_catalog().find("streamed");
  int opened = 0;
  for (const Candidate& one : streamed.candidates(request, scenario.policy.keys.reader()))
    opened += check_bounds(one);
  CHECK(opened > 3);
}

// The input and the answer of a micro-batch take 8 EB together. With another 4 EB for a further input, a limit of early
// loads would exceed 2^63 - 1 bytes.
TEST_CASE("limits of early loads beyond the greatest number of bytes are left out") {
  constexpr std::int64_t huge = 4'000'000'000'000'000'000;
  const Scenario scenario = test::small_scenario(
      huge, {{1, 0, huge}},
      "workload: {batches_per_step: 1, steps: 2}\nstages: {cut: whole}\npolicy: {name: streamed}\n",
      {"platform.devices.gpu.memory.capacity=9000000000GB"});
  const Plan plan = make_plan(scenario);
  CHECK(find_fact(plan.facts, "chosen")->text()->find("within -") == std::string::npos);
}

}  // namespace
}  // namespace sluice
