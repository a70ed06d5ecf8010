// Tests the seconds of a step in the steady state. Even if a scenario has only one step, its
// answer gives these seconds. With 1 GFLOP/s and 1 GB/s, 1e6 FLOP take 1 ms and 1 kB takes 1 us.
#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "metrics/metric.hpp"
#include "metrics/steady.hpp"
#include "run/further_steps.hpp"
#include "run/run.hpp"
#include "support/abc_case.hpp"

namespace sluice {
namespace {

using test::abc;
using test::ms;
using test::small_scenario;
using test::two_devices;

Plan planned(const std::string& workload, const std::string& rest,
             const std::vector<std::string>& overrides = {}) {
  return make_plan(small_scenario(1000, abc, "workload: {" + workload + "}\n" + rest, overrides));
}

double number(const RunResult& result, const std::string& metric) {
  return result.summary.find(metric)->value.number;
}

RunResult run_of(const Plan& plan) {
  return run({.plan = plan, .executor = Executor::replay});
}

TEST_CASE("one step under resident: the load of weights counts in first_step_s, not in step_s") {
  // The weights take 0.6 ms, the input 0.001 ms, the computation 6 ms and the answer 0.001 ms. In the steady state,
  // inputs are loaded and answers are saved during computations. So only the computation binds.
  const RunResult result = run_of(planned("batch: 1", "policy: {name: resident, buffers: 2}\n"));
  CHECK(number(result, "makespan_s") == ms(6.602));
  CHECK(number(result, "throughput_samples_per_s") == Approx(1 / 6.602e-3));
  CHECK(number(result, "first_step_s") == ms(6.602));
  CHECK(number(result, "step_s") == ms(6));
  CHECK(number(result, "steady_throughput_samples_per_s") == Approx(1 / 6e-3));
}

TEST_CASE("a load of weights that takes longer than a step is not a part of step_s") {
  // With 1 MB/s, the weights take 600 ms. An input and an answer take 1 ms each, and the computation of 6 ms hides both
  // transfers.
  const RunResult result = run_of(planned("batch: 1", "policy: {name: resident, buffers: 2}\n",
                                          {"platform.links.host.bandwidth=1MB/s"}));
  CHECK(number(result, "first_step_s") == ms(600 + 1 + 6 + 1));
  CHECK(number(result, "step_s") == ms(6));
}

TEST_CASE("the weights of groups that take turns are loaded again for every step") {
  // A memory of 310 kB cannot hold the weights of all three layers. Without overlap, actions run one after the other.
  // The weights take 0.6 ms, the computation 6 ms, the input 0.001 ms and the answer 0.001 ms. The outputs of 2 and 3
  // kB stay on the device.
  const RunResult result =
      run_of(planned("batch: 1",
                     "stages: {cut: per_layer}\n"
                     "policy: {name: streamed, overlap: false, resident: none, outputs: return}\n",
                     {"platform.devices.gpu.memory.capacity=310kB"}));
  CHECK(number(result, "first_step_s") == ms(6.602));
  CHECK(number(result, "step_s") == ms(6.602));
}

TEST_CASE(
    "further steps after a single step equal the steps of a long run, for policies that "
    "repeat steps") {
  for (const char* policy :
       {"resident, buffers: 2", "resident, buffers: 4", "resident, overlap: false", "basic",
        "sharded", "sharded, overlap: false", "data_parallel, replica: resident"})
    for (const char* mode : {"inference", "training"}) {
      const std::string name = policy, training = mode;
      if (training == "training" && name.rfind("resident", 0) != 0) continue;
      if (training == "training" && name.find("buffers") != std::string::npos) continue;
      const bool several = name.rfind("sharded", 0) == 0 || name.rfind("data_parallel", 0) == 0;
      const auto of = [&](int steps) {
        return planned("mode: " + training + ", batch: 2, steps: " + std::to_string(steps),
                       "stages: {cut: per_layer}\npolicy: {name: " + name + "}\n",
                       several ? two_devices : std::vector<std::string>{});
      };
      INFO(name << ", " << training);
      const std::optional<double> one = further_step_s(of(1)), many = further_step_s(of(40));
      REQUIRE(one);
      CHECK(*one == Approx(many.value()).epsilon(1e-9));
      // A run of 140 steps has 100 steps more than a run of 40. Each of these 100 steps takes `*one` seconds.
      const double hundred = replay(of(140)).makespan - replay(of(40)).makespan;
      CHECK(hundred == Approx(100 * *one).epsilon(1e-6));
    }
}

TEST_CASE("the first step of a run of nine steps takes as long as a run of one step") {
  const RunResult one = run_of(planned("batch: 1", "policy: {name: resident, buffers: 2}\n"));
  const RunResult nine =
      run_of(planned("batch: 1, steps: 9", "policy: {name: resident, buffers: 2}\n"));
  CHECK(number(nine, "first_step_s") == ms(6.602));
  CHECK(number(nine, "makespan_s") == ms(0.602 + 9 * 6));
  CHECK(number(nine, "step_s") == Approx(number(one, "step_s")).epsilon(1e-9));
}

TEST_CASE(
    "if one run of the body is several steps, the first step ends when its samples are done") {
  // With three phases on two devices, one run of the body is two steps.
  const Plan plan =
      planned("batch: 1, steps: 6",
              "stages: {cut: per_layer}\npolicy: {name: phased, in_flight: 1}\n", two_devices);
  REQUIRE(plan.steps_per_iteration == 2);
  const RunResult result = run_of(plan);
  const double first = number(result, "first_step_s"), step = number(result, "step_s");
  CHECK(first < number(result, "makespan_s") / 3);
  CHECK(number(result, "steady_throughput_samples_per_s") == Approx(1 / step));
  CHECK(first > 6e-3);  // the computation of one sample takes 6 ms
  CHECK(step >= 6e-3 * (1 - 1e-9));
}

TEST_CASE(
    "a plan without a body, or with too many iterations per step, gives no time for a further "
    "step") {
  Plan plan = planned("batch: 1", "policy: {name: resident, buffers: 2}\n");
  Plan none = plan;
  none.body_end = none.body_begin;
  none.iterations = 0;
  CHECK_FALSE(further_step_s(none));
  plan.iterations_per_step = std::numeric_limits<std::int64_t>::max() / 3;
  plan.iterations = plan.iterations_per_step;
  CHECK_FALSE(further_step_s(plan));
}

}  // namespace
}  // namespace sluice
