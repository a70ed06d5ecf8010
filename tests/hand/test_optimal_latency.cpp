// During a latency, neither the link nor a device is busy. These tests have a link with a latency. They compare the
// choices and the bound of `optimal` with hand calculations.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

std::string fact(const Plan& plan, const std::string& name, const std::string& of = {}) {
  const Fact* fact = find_fact(plan.facts, name, of);
  return fact ? fact->shown() : "";
}

/// Two layers take 1 us each and have no weights. The input of each layer has 1 kB, which takes 1
/// us at 1 GB/s. Together, the forward passes take 2 us and the backward passes take 4 us.
Scenario two_layers(const std::string& strategy, const std::string& batch,
                    const std::vector<std::string>& further) {
  std::vector<std::string> overrides = {"platform.links.host.latency=50us",
                                        "workload.batch=" + batch};
  overrides.insert(overrides.end(), further.begin(), further.end());
  return test::small_scenario(1000, {{1e-3, 0, 1000}, {1e-3, 0, 1000}},
                              "workload: {mode: training, micro_batch: 1, optimizer: none}\n"
                              "stages: {cut: per_layer}\npolicy: {name: resident}\n"
                              "fates: {strategy: " +
                                  strategy + "}\n",
                              overrides);
}

TEST_CASE("a latency that is longer than a micro-batch delays only the first micro-batch") {
  // The first input arrives after 1 + 50 us, and the other inputs arrive during earlier computations. So the run takes
  // 51 + 10 x 6 us.
  for (const std::string strategy : {"keep_all", "optimal"})
    CHECK(replay(make_plan(two_layers(strategy, "10", {}))).makespan ==
          Approx(111e-6).epsilon(1e-12));
  const Plan plan = make_plan(two_layers("optimal", "10", {}));
  CHECK(fact(plan, "micro_batch_bound_s") == "6 us");
  CHECK(fact(plan, "gap") == "0");
}

TEST_CASE("without overlap, the device waits until each load has arrived") {
  // Each of the 10 samples takes 1 us for the input, 50 us of latency and 6 us of computation.
  const Plan plan = make_plan(two_layers("optimal", "10", {"policy.overlap=false"}));
  CHECK(replay(plan).makespan == Approx(570e-6).epsilon(1e-12));
  CHECK(fact(plan, "micro_batch_bound_s") == "57 us");
}

TEST_CASE("the gap is also 0 if the link is always busy") {
  // Inputs take 10 us each. The last of 10 inputs arrives at 100 + 50 us, and its computation takes 6 us.
  const Plan plan =
      make_plan(two_layers("optimal", "10", {"platform.links.host.bandwidth=100MB/s"}));
  CHECK(replay(plan).makespan == Approx(156e-6).epsilon(1e-12));
  CHECK(fact(plan, "micro_batch_bound_s") == "10 us");
  CHECK(fact(plan, "gap") == "0");
}

TEST_CASE(
    "the input of the next step is loaded while the last micro-batch of this step is computed") {
  // The inputs of 3 steps x 2 samples take 6 x 10 us, without a pause. After these loads, 1 us of latency and 6
  // us of computation follow.
  for (const std::string strategy : {"keep_all", "optimal"})
    CHECK(replay(make_plan(two_layers(
                     strategy, "1",
                     {"platform.links.host.bandwidth=100MB/s", "platform.links.host.latency=1us",
                      "workload.steps=3", "workload.batches_per_step=2"})))
              .makespan == Approx(67e-6).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
