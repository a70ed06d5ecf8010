// The body of a long training batch is a few of its passes. Its run must equal the run in which all of them are
// listed. With 1 GFLOP/s and 1 GB/s, 1e6 FLOP take 1 ms and 1 kB takes 1 us.
#include "planning/training/shortest_round.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "planning/training/training.hpp"
#include "support/abc_case.hpp"
#include "support/checked_summary.hpp"

namespace sluice {
namespace {

using test::abc;
using test::small_scenario;

/// A training run of one batch, and how its loads are listed.
struct LongBatch {
  std::string optimizer = "sgd";
  std::int64_t micro_batches = 1, in_flight = 1;
  std::vector<std::string> machine = {};
  std::int64_t early_bytes = 0;  ///< the bytes that early loads may use besides the peak

  Scenario scenario() const {
    return small_scenario(1000, abc,
                          "workload: {mode: training, optimizer: " + optimizer +
                              ", batch: " + std::to_string(micro_batches) +
                              ", micro_batch: 1}\nstages: {cut: whole}\npolicy: {name: resident}\n"
                              "fates: {strategy: keep_all}\n",
                          machine);
  }
};

/// Returns the plan of the batch. With `whole`, it lists all passes.
Plan listed(const LongBatch& asked, bool whole) {
  const Scenario scenario = asked.scenario();
  const CutModel cut = cut_models(scenario).front();
  const PolicyRequest request = request_of(scenario, cut, scenario.fates);
  const TrainingOrder order{.policy = "resident", .in_flight = asked.in_flight, .devices = {"gpu"}};
  std::optional<Plan> plan;
  with_step_shape(request, order, [&](const StepShape& all) {
    const StepShape shape = whole ? all : shortest_round(all, request, order);
    Program step = make_step(shape);
    const std::int64_t room = peaks_of(step, order.devices.size()).greatest() + asked.early_bytes;
    plan = finish(list_training({request, shape, order, room}, step, {}), request);
  });
  return *plan;
}

/// Compares the plan with the plan that lists everything. Returns how often its body runs.
std::int64_t iterations_of(const LongBatch& asked) {
  const Plan plan = listed(asked, /*whole=*/false), whole = listed(asked, /*whole=*/true);
  CAPTURE(asked.micro_batches, asked.in_flight, asked.optimizer, asked.early_bytes);
  CHECK(whole.iterations == 1);
  const Summary of_plan = test::checked_summary(plan), of_whole = test::checked_summary(whole);
  // The seconds of a transfer are the difference of two times, whose rounding depends on how late they are.
  const double rounding = 1e-12 * replay(whole).makespan;
  for (std::size_t i = 0; i < of_whole.metrics.size(); ++i) {
    const std::string& name = of_whole.metrics[i].name;
    INFO(name);
    const SummaryValue &value = of_plan.metrics[i].value, &all = of_whole.metrics[i].value;
    if (name.find("bound") != std::string::npos) continue;
    if (std::isfinite(all.number))
      CHECK(value.number == Approx(all.number).epsilon(1e-12).margin(rounding));
    REQUIRE(value.keyed.size() == all.keyed.size());
    for (std::size_t k = 0; k < all.keyed.size(); ++k)
      CHECK(value.keyed[k].number == Approx(all.keyed[k].number).epsilon(1e-12).margin(rounding));
  }
  CHECK(replay(plan).peaks == replay(whole).peaks);
  return plan.iterations;
}

TEST_CASE("a batch of many passes runs as if all of them were listed") {
  for (const char* optimizer : {"sgd", "adam", "none"}) {
    CHECK(iterations_of({.optimizer = optimizer, .micro_batches = 2000}) == 2000);
    CHECK(iterations_of({.optimizer = optimizer, .micro_batches = 4200, .in_flight = 2}) == 2100);
  }
}

// A forward pass takes 6 ms and a backward pass 12 ms. A round begins with the forward pass, and a load may start at
// the earliest behind it. With a latency of 20 ms, an input comes 20.001 ms early, so a round has (6 + 20.001) / 18 =
// 1.4 passes or more. With a latency of 115 ms, it has (6 + 115.001) / 18 = 6.7 or more.
TEST_CASE("a round has as many passes as the loads need, and divides the batch") {
  const auto iterations = [](std::int64_t micro_batches, const std::string& latency) {
    return iterations_of({.micro_batches = micro_batches,
                          .machine = {"platform.links.host.latency=" + latency},
                          .early_bytes = 100'000});
  };
  CHECK(iterations(2100, "20ms") == 2100 / 2);
  CHECK(iterations(2100, "115ms") == 2100 / 7);
  CHECK(iterations(2003, "0ms") == 2003);
  // 2003 is a prime number, so no round of 2 passes divides the batch, and all passes are listed.
  CHECK(iterations(2003, "20ms") == 1);
}

TEST_CASE("only passes of a single batch are a round if a batch ends with updates") {
  const auto iterations = [](const std::string& workload, std::int64_t passes) {
    return make_plan(small_scenario(1000, abc,
                                    "workload: {mode: training, micro_batch: 1, batch: " +
                                        std::to_string(passes) + ", " + workload +
                                        "}\nstages: {cut: whole}\npolicy: {name: resident}\n"
                                        "fates: {strategy: keep_all}\n"))
        .iterations;
  };
  CHECK(iterations("optimizer: sgd", most_listed_passes) == 1);
  CHECK(iterations("optimizer: sgd", 2 * most_listed_passes) == 2 * most_listed_passes);
  CHECK(iterations("optimizer: sgd, steps: 3", 2 * most_listed_passes) == 3);
  CHECK(iterations("optimizer: none, steps: 3", 2 * most_listed_passes) == 6 * most_listed_passes);
}

// On two devices with 1 GFLOP/s, each of the 1100 passes of a replica takes 18 ms. Then the gradients of 600 kB cross
// the ring in 2 pieces of 300 kB, each in 0.3 ms, and each replica updates 150,000 weights with 300,000 FLOP in 0.3 ms.
TEST_CASE("a step of replicas includes the sums of their gradients") {
  const auto step_s = [](std::int64_t batch) {
    const Plan plan = make_plan(small_scenario(
        1000, abc,
        "workload: {mode: training, optimizer: sgd, batch: " + std::to_string(batch) +
            ", micro_batch: 1}\nstages: {cut: whole}\n"
            "policy: {name: data_parallel, replica: resident, all_reduce: after}\n"
            "fates: {strategy: keep_all}\n",
        test::two_devices));
    CHECK(plan.iterations == (batch > 2 * most_listed_passes ? batch / 2 : 1));
    return further_step_s(plan).value();
  };
  CHECK(step_s(2200) == Approx(1100 * 18e-3 + 0.6e-3 + 0.3e-3).epsilon(1e-12));
  CHECK(step_s(2200) - step_s(2000) == Approx(100 * 18e-3).epsilon(1e-9));
}

// The fast replica computes 50 times as fast, so its loads need rounds of more passes than those of the slow replica.
// No such number divides 1031, so its round is all passes. The slow replica takes 18 ms for each pass.
TEST_CASE("unlike replicas with a long batch sum their gradients after all rounds") {
  const std::vector<std::string> machine = {
      "platform.devices.fast={rate: {float32: 50GFLOP/s}, memory: {capacity: 1GB}}",
      "platform.links.host={joins: [host, gpu, fast], bandwidth: 1GB/s, latency: 50us}",
      "platform.links.pair={joins: [gpu, fast], bandwidth: 1GB/s}"};
  const Plan plan = make_plan(
      small_scenario(1000, abc,
                     "workload: {mode: training, optimizer: sgd, batch: 2062, micro_batch: 1}\n"
                     "stages: {cut: whole}\npolicy: {name: data_parallel, replica: resident}\n"
                     "fates: {strategy: keep_all}\n",
                     machine));
  check(plan);
  CHECK(plan.collectives.size() == 1);
  CHECK(replay(plan).makespan >= 1031 * 18e-3);
  CHECK(further_step_s(plan).value() >= 1031 * 18e-3);
  CHECK(further_step_s(plan).value() <= 1031 * 18e-3 + 2e-3);
}

// Each device needs 0.6 ms for its weights, 0.001 ms for its first input and 18 ms for each micro-batch. The gradients
// of 600 kB cross the ring in 2 pieces of 300 kB, each in 0.3 ms. The update of 150,000 weights computes 300,000 FLOP.
TEST_CASE("replicas with a batch of many passes sum their gradients once, before the updates") {
  const Plan plan = make_plan(
      small_scenario(1000, abc,
                     "workload: {mode: training, optimizer: sgd, batch: 40000, micro_batch: 1}\n"
                     "stages: {cut: whole}\npolicy: {name: data_parallel, replica: resident}\n"
                     "fates: {strategy: keep_all}\n",
                     test::two_devices));
  check(plan);
  CHECK(plan.iterations == 20'000);
  CHECK(plan.collectives.size() == 1);
  CHECK(replay(plan).makespan >= (0.601 + 20000 * 18.0 + 0.6 + 0.3) * 1e-3 * (1 - 1e-12));
  CHECK(replay(plan).makespan <= (1.202 + 20000 * 18.0 + 0.6 + 0.3) * 1e-3 * (1 + 1e-12));
}

}  // namespace
}  // namespace sluice
