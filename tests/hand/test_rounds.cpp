// If the work repeats, the body of a plan must be one round, for any number of micro-batches per step. With 1 GFLOP/s
// and 1 GB/s, 1e6 FLOP take 1 ms and 1 kB takes 1 us.
#include <catch2/catch.hpp>
#include <cmath>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "run/further_steps.hpp"
#include "run/isolated.hpp"
#include "support/abc_case.hpp"

namespace sluice {
namespace {

using test::abc;
using test::ms;
using test::small_scenario;
using test::two_devices;

double number(const Totals& totals, const std::string& metric) {
  return metric_catalog().find(metric).value(totals).number;
}

std::int64_t body(const Plan& plan) {
  return plan.body_end - plan.body_begin;
}

std::int64_t peak(const Plan& plan, const std::string& pool) {
  const ReplayResult result = replay(plan);
  for (std::size_t p = 0; p < plan.pools.size(); ++p)
    if (plan.pools[p].name == pool) return result.peaks[p];
  return -1;
}

Plan planned(const std::string& workload, const std::string& rest,
             const std::vector<std::string>& overrides = {}) {
  Plan plan =
      make_plan(small_scenario(1000, abc, "workload: {" + workload + "}\n" + rest, overrides));
  check(plan);
  return plan;
}

TEST_CASE(
    "resident: the plan of a million micro-batches is as long as the plan of one micro-batch") {
  // The weights take 0.6 ms. For each micro-batch, the input takes 0.001 ms, the computation 6 ms and the answer 0.001
  // ms.
  const std::string policy = "policy: {name: resident, buffers: 2}\n";
  const Plan one = planned("batches_per_step: 1", policy);
  for (const std::int64_t count : {2, 10, 1'000'000}) {
    const Plan plan = planned("batches_per_step: " + std::to_string(count), policy);
    CHECK(plan.actions.size() == one.actions.size());
    CHECK(plan.tensors.size() == one.tensors.size());
    CHECK(plan.iterations == count);
    CHECK(plan.iterations_per_step == count);
    Totals totals(plan);
    replay(plan, totals);
    const double makespan = 0.6 + 0.001 + 6.0 * static_cast<double>(count) + 0.001;
    CHECK(number(totals, "makespan_s") == ms(makespan));
    CHECK(number(totals, "first_step_s") == ms(makespan));
    totals.set_further_step(further_step_s(plan));
    CHECK(number(totals, "step_s") == ms(6.0 * static_cast<double>(count)));
    CHECK(number(totals, "samples") == static_cast<double>(count));
    // Host memory holds 600 kB of weights. For each micro-batch, it holds 1 kB of input and 1 kB of output.
    CHECK(peak(plan, "host") == 600'000 + 2000 * count);
    if (count == 10) CHECK(execute_isolated(plan).report.makespan == ms(makespan));
  }
}

/// Returns the keys of a workload of training.
std::string training(std::int64_t batches, std::int64_t steps) {
  return "mode: training, optimizer: sgd, batch: 2, micro_batch: 1, batches_per_step: " +
         std::to_string(batches) + ", steps: " + std::to_string(steps);
}

TEST_CASE("training under resident: the body is one batch, for any number of batches per step") {
  // The weights take 0.6 ms, and the first input 0.001 ms. A batch has two micro-batches of 6 ms for the forward pass
  // and 12 ms for the backward pass. An update computes 2 FLOP for each of 150,000 weights, which takes 0.3 ms.
  const std::string policy =
      "stages: {cut: whole}\npolicy: {name: resident}\nfates: {strategy: keep_all}\n";
  const Plan one = planned(training(1, 1), policy);
  for (const std::int64_t count : {2, 7, 400'000}) {
    const Plan plan = planned(training(count, 1), policy);
    CHECK(plan.actions.size() == one.actions.size());
    CHECK(plan.iterations == count);
    CHECK(plan.iterations_per_step == count);
    Totals totals(plan);
    replay(plan, totals);
    const double batches = 36.3 * static_cast<double>(count);
    CHECK(number(totals, "makespan_s") == ms(0.601 + batches));
    CHECK(number(totals, "first_step_s") == ms(0.601 + batches));
    totals.set_further_step(further_step_s(plan));
    CHECK(number(totals, "step_s") == ms(batches));
    CHECK(number(totals, "samples") == static_cast<double>(2 * count));
    // Host memory holds 600 kB of weights, and 1 kB of input for each sample of the step.
    CHECK(peak(plan, "host") == 600'000 + 2000 * count);
    if (count == 7) CHECK(execute_isolated(plan).report.makespan == ms(0.601 + batches));
  }
  CHECK(replay(planned(training(7, 3), policy)).makespan ==
        Approx(replay(planned(training(1, 21), policy)).makespan).epsilon(1e-12));
}

TEST_CASE("training under resident: a round is so long that loads can come early enough") {
  // With a latency of 100 ms, the inputs of a batch must come 100.002 ms early. The first load of a round may be listed
  // behind the forward pass of 6 ms that begins the round before. A batch takes 36.3 ms, so a round needs at least
  // 106.002 / 36.3 = 2.9 batches. No number between 2 and 7 divides 7, so a step of 7 batches has a single round.
  const std::string rest =
      "stages: {cut: whole}\npolicy: {name: resident}\nfates: {strategy: keep_all}\n";
  const auto rounds = [&](std::int64_t batches) {
    const Plan plan = planned(training(batches, 1), rest, {"platform.links.host.latency=100ms"});
    // The weights take 0.6 ms, the first input 0.001 ms, and both arrive after the latency.
    CHECK(replay(plan).makespan == ms(100.601 + 36.3 * static_cast<double>(batches)));
    return plan.iterations_per_step;
  };
  CHECK(rounds(12) == 4);
  CHECK(rounds(10) == 2);
  CHECK(rounds(7) == 1);
  CHECK(rounds(900) == 300);
}

TEST_CASE("training under streamed: weights that take turns may stay until the next batch") {
  // So the plan lists the whole step.
  const Plan plan =
      planned(training(4, 1),
              "stages: {cut: per_layer}\npolicy: {name: streamed, resident: none, in_flight: 2}\n"
              "fates: {strategy: keep_all}\n");
  CHECK(plan.iterations == 1);
}

TEST_CASE(
    "data_parallel training: the body is one batch of each replica, with its sums of gradients") {
  const std::string policy =
      "policy: {name: data_parallel, replica: resident}\nfates: {strategy: keep_all}\n";
  const auto plan_of = [&](std::int64_t batches, std::int64_t steps) {
    return planned(training(batches, steps), policy, two_devices);
  };
  const Plan plan = plan_of(1000, 1);
  CHECK(plan.iterations_per_step == 1000);
  CHECK(plan.collectives.size() == plan_of(1, 1).collectives.size());
  CHECK(replay(plan).makespan == Approx(replay(plan_of(1, 1000)).makespan).epsilon(1e-12));
}

TEST_CASE("resident: a round has at least one micro-batch per input that is loaded early") {
  // With three inputs loaded ahead, a round has at least 3 micro-batches. A step of 12 micro-batches has rounds of 3
  // micro-batches. A step of 10 micro-batches has rounds of 5. A step of 7 micro-batches has one round of 7, because 7
  // is a prime number.
  const std::string policy = "policy: {name: resident, buffers: 4}\n";
  const auto rounds = [&](int count) {
    const Plan plan = planned("batches_per_step: " + std::to_string(count) + ", steps: 2", policy);
    // The run takes 0.6 ms for the weights, 0.001 ms for the first input, the time of 2 steps, and 0.001 ms for the
    // last answer.
    CHECK(replay(plan).makespan == ms(0.602 + 12.0 * count));
    CHECK(plan.iterations == 2 * plan.iterations_per_step);
    return plan.iterations_per_step;
  };
  CHECK(rounds(12) == 4);
  CHECK(rounds(10) == 2);
  CHECK(rounds(7) == 1);
  CHECK(rounds(2) == 1);
}

TEST_CASE("resident: the number of inputs that are loaded early is the number that fits") {
  // While B computes, the device holds 600 kB of weights, B's input of 2 kB and B's output of 3 kB. These are 605
  // kB. An input of the model has 1 kB. So a memory of 607 kB has room for two additional inputs of the model. Four
  // buffers would hold three additional inputs.
  const Plan plan = planned("batches_per_step: 8",
                            "stages: {cut: per_layer}\n"
                            "policy: {name: resident, buffers: 4}\n",
                            {"platform.devices.gpu.memory.capacity=607kB"});
  CHECK(plan.iterations == 4);  // each iteration is a round of two micro-batches
  CHECK(plan.body_begin == 3 + 2);
  CHECK(peak(plan, "gpu") <= 607'000);
  CHECK(replay(plan).makespan == ms(0.602 + 48));
}

TEST_CASE("resident: steps are counted correctly if the body is only a part of a step") {
  // With 1 TFLOP/s and 1 MB/s, the link binds. Inputs take 1 ms each and come without a pause. So a step of 5
  // micro-batches takes 5 ms.
  const Plan plan = planned(
      "batches_per_step: 5, steps: 8", "policy: {name: resident, buffers: 2}\n",
      {"platform.devices.gpu.rate.float32=1TFLOP/s", "platform.links.host.bandwidth=1MB/s"});
  CHECK(plan.iterations == 40);
  CHECK(plan.iterations_per_step == 5);
  Totals totals(plan);
  replay(plan, totals);
  CHECK(number(totals, "makespan_s") == ms(600 + 40 + 0.006 + 1));
  CHECK(number(totals, "step_s") == ms(5));
}

TEST_CASE("without overlap, a round begins when the previous round has ended") {
  // The weights take 0.6 ms. Each of 6 batches takes 0.001 + 6 + 0.001 ms for the input, the computation and the
  // answer.
  for (const char* policy : {"resident, overlap: false", "sharded, overlap: false", "basic"}) {
    const Plan plan =
        planned("batches_per_step: 3, steps: 2", std::string("policy: {name: ") + policy + "}\n");
    INFO(policy);
    CHECK(plan.iterations == 6);
    CHECK(replay(plan).makespan == ms(36.612));
    CHECK(execute_isolated(plan).report.makespan == ms(36.612));
  }
}

TEST_CASE("sharded on two devices: the body computes one micro-batch") {
  // The first stage is A, and the second stage is B and C. At the full rate of the shared link, the weights of the two
  // stages take 0.1 ms and 0.5 ms. A's weights come at half the rate until 0.2 ms, and all weights have arrived at 0.6
  // ms. The input takes 0.001 ms. A micro-batch takes 1 ms, then 0.002 ms over the link of the pair, and then 2 + 3 ms.
  // An answer takes 0.001 ms.
  const std::string rest = "stages: {cut: explicit, after: [2]}\npolicy: {name: sharded}\n";
  const auto makespan = [&](const std::string& workload) {
    const Plan plan = planned(workload, rest, two_devices);
    CHECK(body(plan) == 1 + 2 + 1 + 1);  // a load, two computations, a send and a save
    const double replayed = replay(plan).makespan;
    CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
    return replayed;
  };
  const double one = makespan("batches_per_step: 1"),
               nine = makespan("batches_per_step: 3, steps: 3");
  CHECK(nine - one == ms(8 * 6.002));
}

TEST_CASE("phased: a round brings the first phase back to the first device") {
  // With three phases per batch on two devices, a round is two batches. So four batches are two rounds.
  const std::string rest =
      "stages: {cut: per_layer}\nphases: {activations: on_chip}\n"
      "policy: {name: phased, in_flight: 1}\n";
  const auto plan_of = [&](const std::string& workload) {
    return planned(workload, rest, two_devices);
  };
  const Plan even = plan_of("batches_per_step: 4, steps: 3");
  CHECK(even.iterations == 6);
  CHECK(even.iterations_per_step == 2);
  // With three batches per step, the body has two steps, which are three rounds. The fifth step is in the epilogue.
  const Plan odd = plan_of("batches_per_step: 3, steps: 5");
  CHECK(odd.iterations == 2);
  CHECK(odd.steps_per_iteration == 2);
  CHECK(odd.body_end < odd.actions.size());
  // A step takes equally long, whether the last step is in the body or in the epilogue.
  const double step_s = further_step_s(plan_of("batches_per_step: 3, steps: 2")).value();
  for (const char* steps : {"3", "4", "5"})
    CHECK(further_step_s(plan_of(std::string("batches_per_step: 3, steps: ") + steps)).value() ==
          Approx(step_s).epsilon(1e-12));
  // One step of 12 or 15 batches takes as long as several steps with the same number of batches in total.
  CHECK(replay(plan_of("batches_per_step: 12")).makespan ==
        Approx(replay(even).makespan).epsilon(1e-12));
  CHECK(replay(plan_of("batches_per_step: 15")).makespan ==
        Approx(replay(odd).makespan).epsilon(1e-12));
  // A plan for two steps of a million batches has as many actions as the plan for small steps.
  const Plan many = plan_of("batches_per_step: 1000000, steps: 2");
  CHECK(many.actions.size() == even.actions.size());
  CHECK(many.iterations == 1'000'000);
}

TEST_CASE("streamed: the body is one of the equal passes of a long step") {
  // The first input takes 0.001 ms, and A's weights 0.1 ms, while the second input comes. If the first pass has a
  // single micro-batch, no second input comes. All other loads are hidden by the computations of 6 ms per micro-batch.
  // The last answer takes 0.001 ms.
  const auto plan_of = [&](std::int64_t count, std::int64_t in_flight) {
    const Plan plan =
        planned("batches_per_step: " + std::to_string(count),
                "stages: {cut: per_layer}\nfates: {strategy: keep_all}\n"
                "policy: {name: streamed, buffers: 2, pieces: whole, prefetch: 1, resident: none, "
                "in_flight: " +
                    std::to_string(in_flight) + "}\n");
    const double makespan = 0.103 + 6.0 * static_cast<double>(count);
    Totals totals(plan);
    replay(plan, totals);
    CHECK(number(totals, "makespan_s") == ms(makespan).margin(1.1e-6));
    CHECK(number(totals, "first_step_s") == ms(makespan).margin(1.1e-6));
    CHECK(number(totals, "samples") == static_cast<double>(count));
    totals.set_further_step(further_step_s(plan));
    CHECK(number(totals, "step_s") == Approx(6e-3 * static_cast<double>(count)).margin(1.1e-4));
    CHECK(number(totals, "steady_throughput_samples_per_s") == Approx(1000.0 / 6).epsilon(1e-5));
    CHECK(peak(plan, "host") == 600'000 + 2000 * count);
    CHECK(find_fact(plan.facts, "passes_per_step")->number()->value ==
          std::ceil(static_cast<double>(count) / static_cast<double>(in_flight)));
    CHECK(find_fact(plan.facts, "weight_passes", "1")->number()->value ==
          find_fact(plan.facts, "passes_per_step")->number()->value);
    return plan;
  };
  const Plan some = plan_of(30'000, 100), many = plan_of(1'000'000, 100);
  // The prologue computes five passes, and the epilogue two.
  CHECK(some.iterations == 300 - 7);
  CHECK(many.iterations == 10'000 - 7);
  CHECK(many.actions.size() == some.actions.size());
  CHECK(many.tensors.size() == some.tensors.size());
  CHECK(execute_isolated(some).report.makespan == Approx(replay(some).makespan).epsilon(1e-9));
  // If passes of 100 do not divide a step, the first pass is shorter.
  CHECK(plan_of(30'001, 100).iterations == 301 - 7);
  CHECK(plan_of(999'983, 100).actions.size() < many.actions.size());
  // With few micro-batches in flight, a round has several passes.
  CHECK(body(plan_of(100'000, 1)) ==
        4 * (1 + 3 + 3 + 1));  // four passes: inputs, weights, computations, answers
  // Short steps and steps of few passes are listed as a whole.
  CHECK(plan_of(4096, 8).iterations == 1);
  CHECK(plan_of(25'600, 100).iterations == 1);
}

TEST_CASE("streamed: a million micro-batches are planned with all choices open") {
  // The device has no room for all weights. Each candidate is rehearsed with a few passes.
  const Plan plan = planned("batches_per_step: 1000000", "policy: {name: streamed}\n",
                            {"platform.devices.gpu.memory.capacity=450kB"});
  CHECK(plan.actions.size() < 200'000);
  const double chosen = find_fact(plan.facts, "chosen_s")->number()->value;
  CHECK(replay(plan).makespan == Approx(chosen).epsilon(1e-9));
  CHECK(chosen >= 6000);
  CHECK(chosen < 6001);
}

TEST_CASE("data_parallel: replicas with unequal shares run the same number of iterations") {
  // In each of two steps, the first device computes four of seven batches, in 6 ms per batch. The weights of both
  // devices come over one link (1.2 ms). Then the inputs of both devices come (0.002 ms). The first replica computes
  // for 8 x 6 ms without a pause.
  const Plan plan =
      planned("batches_per_step: 7, steps: 2",
              "policy: {name: data_parallel, replica: resident, buffers: 2, transfers: together}\n",
              two_devices);
  CHECK(plan.iterations == 2);
  CHECK(plan.iterations_per_step == 1);
  Totals totals(plan);
  CHECK(replay(plan, totals).makespan == ms(1.2 + 0.002 + 48 + 0.001));
  CHECK(number(totals, "samples") == 14);
  // If both replicas compute the same number of batches, the body is one micro-batch of each replica.
  const Plan even =
      planned("batches_per_step: 8, steps: 2",
              "policy: {name: data_parallel, replica: resident, buffers: 2, transfers: together}\n",
              two_devices);
  CHECK(even.iterations == 8);
  CHECK(even.iterations_per_step == 4);
}

}  // namespace
}  // namespace sluice
