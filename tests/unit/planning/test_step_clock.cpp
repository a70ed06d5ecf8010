// Tests the clock of a training step. For given positions of the loads, the clock computes a lower bound on the seconds
// of the step. In a phased step, the copies of each device have copy engines of their own.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "planning/equal_replicas.hpp"
#include "planning/placement/backing.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/rounding.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/campaign.hpp"
#include "support/random_case.hpp"
#include "support/random_limits.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

using test::Dice;
using test::RandomCase;

Scenario scenario_of(const RandomCase& made) {
  return test::small_scenario(made.input, made.rows, made.text(), made.machine);
}

TEST_CASE(
    "no training run takes fewer seconds than the clock gives for the order of its loads and operations",
    "[property]") {
  int compared = 0, reached = 0, waits = 0;
  Dice dice(2024);
  for (const std::string policy : {"streamed", "resident", "phased"})
    for (int c = 0; c < test::cases_of(12); ++c) {
      RandomCase made = test::random_case(dice, policy, /*training=*/true);
      made.cut = dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
      if (dice.one_in(2)) made.machine.push_back("platform.links.host.duplex=half");
      const Scenario scenario = scenario_of(made);
      const CutModel cut = cut_models(scenario).front();
      const std::vector<std::string> fates = {"keep_all", "offload_all", "sqrt", "recompute_all"};
      const Chosen<FateStrategy> strategy =
          plain_fates(fate_catalog().find(fates[dice.below(fates.size())]));
      const PolicyRequest request{
          .pricing = {cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform,
                      *scenario.cost, scenario.workload.dtype, &*scenario.workload.training},
          .workload = scenario.workload,
          .fates = strategy,
          .capacity_enforced = false};
      TrainingOrder order{.policy = "tested", .weights_stay = policy == "resident"};
      order.in_flight = 1 + static_cast<std::int64_t>(dice.below(3));
      for (const Device& device : scenario.platform.devices)
        if (order.devices.empty() || policy == "phased") order.devices.push_back(device.name);
      if (policy == "streamed")
        for (std::size_t s = 0; s < cut.stages.size(); ++s)
          order.staying.push_back(test::random_staying(dice));
      const ChosenStep step(request, order);
      PolicyRequest kept = request;
      kept.fates = kept_fates();
      const double anywhere = step.at_least(), any_fates = ChosenStep(kept, order).at_least();
      CHECK(anywhere > 0);
      for (int w = 0; w < 6; ++w) {
        const ChosenStep::EarlyLoadLimits ahead =
            test::random_limits(dice, step.peaks().greatest());
        INFO(policy << " case " << c << "\n" << made.text() << strategy->name);
        const double least = step.at_least(ahead, step.offer(ahead));
        const double seconds = run_seconds(finish(step.listed(ahead), request));
        CHECK(least <= seconds);
        CHECK(least > 0);
        CHECK(anywhere <= least);
        CHECK(any_fates <= seconds);
        // The run has no more memory than `within`. Then some waits for memory are certain.
        const std::int64_t within = ahead.run_room.value_or(ahead.room).greatest();
        const ChosenStep limited(request, order, within);
        const double within_least = limited.at_least(ahead, step.offer(ahead));
        CHECK(limited.at_least() <= seconds);
        CHECK(within_least <= seconds);
        CHECK(anywhere <= limited.at_least());
        CHECK(least <= within_least);
        waits += within_least > least * (1 + 1e-6);
        ++compared;
        reached += seconds <= least * (1 + 1e-6);
      }
    }
  CHECK(compared > 100);
  // If no action waits for memory, a run takes exactly the seconds of the clock. More than a quarter of all compared
  // runs take exactly these seconds.
  CHECK(reached > compared / 4);
  CHECK(waits > 0);
}

TEST_CASE("the clock counts the bytes of all devices on a link that they share", "[unit]") {
  const std::vector<test::Row> rows(4, {0.001, 1'000'000, 1'000});
  const Scenario scenario = test::small_scenario(
      1'000, rows,
      "workload: {batch: 2, steps: 3, mode: training}\nstages: {cut: per_layer}\npolicy: {name: phased}\n",
      {"platform.devices.gpu.count=2", "platform.links.host.sharing=shared"});
  const CutModel cut = cut_models(scenario).front();
  PolicyRequest request = request_of(scenario, cut, plain_fates(fate_catalog().find("keep_all")));
  request.capacity_enforced = false;
  TrainingOrder order{.policy = "tested", .weights_stay = false};
  order.in_flight = 1;
  order.devices = {"gpu0", "gpu1"};
  const ChosenStep step(request, order);
  double bytes = 0;
  for (const Program::Instance& needed : step.program().instances)
    if (needed.loaded) bytes += static_cast<double>(needed.bytes);
  const ChosenStep::EarlyLoadLimits ahead{2 * step.peaks().greatest()};
  const double least = step.at_least(ahead, step.offer(ahead));
  // Each device loads about half of the bytes. But the link carries only 1 GB/s to both devices together.
  CHECK(least >= 3 * bytes / 1e9 * (1 - 1e-8));
  CHECK(least <= run_seconds(finish(step.listed(ahead), request)));
}

// The weights of both stages stay on the device. Each has 1 MB, which the link carries to both replicas in 2 ms. A
// forward pass takes 1 ms, and a backward pass 2 ms. So one of the replicas begins the forward pass of the second stage
// after 4 ms, and 5 ms of computation follow. Both inputs together take 0.8 us.
TEST_CASE("the clock counts the loads of all replicas on a link that they share", "[unit]") {
  const test::Row row{1, 1'000'000, 400};
  const Scenario scenario = test::small_scenario(
      400, {row, row},
      "workload: {batch: 1, mode: training, optimizer: none}\nstages: {cut: per_layer}\npolicy: {name: streamed}\n",
      {"platform.devices.gpu.count=2", "platform.links.host.sharing=shared"});
  const CutModel cut = cut_models(scenario).front();
  PolicyRequest request = request_of(scenario, cut, plain_fates(fate_catalog().find("keep_all")));
  request.capacity_enforced = false;
  TrainingOrder order{
      .policy = "tested", .weights_stay = false, .in_flight = 1, .devices = {"gpu0"}};
  order.staying.assign(2, all_stay);
  CHECK(ChosenStep(request, order).at_least() == Approx(7.0004e-3).epsilon(1e-6));
  const Platform share = shared_out(scenario.platform, {"gpu0", "gpu1"});
  const EqualReplicas replicas{.share = &share};
  request.replicas = &replicas;
  CHECK(ChosenStep(request, order).at_least() == Approx(9.0008e-3).epsilon(1e-6));
}

TEST_CASE(
    "wherever the loads are listed, the clock counts the copies between devices that take turns",
    "[unit]") {
  // Two layers on two devices. A forward pass takes 1 ms, and a backward pass 2 ms. The input, the output of the first
  // layer and its gradient have 400 bytes. Each layer has 1 kB of weights, and also of gradients, which are saved. The
  // link has 1 GB/s and a latency of 20 ms. The input and the weights arrive after 1.4 us and the latency. The output
  // is saved and loaded, and so is its gradient, each time in 0.4 us and the latency. This gradient is saved before the
  // gradients of weights, because the other device needs it. The last save takes 1 us and the latency.
  const test::Row row{1, 1'000, 400};
  const Scenario scenario = test::small_scenario(
      400, {row, row},
      "workload: {batch: 1, mode: training, optimizer: none}\nstages: {cut: per_layer}\npolicy: {name: phased}\n",
      {"platform.devices.gpu.count=2", "platform.links.host.latency=20ms"});
  const CutModel cut = cut_models(scenario).front();
  PolicyRequest request = request_of(scenario, cut, plain_fates(fate_catalog().find("keep_all")));
  request.capacity_enforced = false;
  const TrainingOrder order{
      .policy = "tested", .weights_stay = false, .in_flight = 1, .devices = {"gpu0", "gpu1"}};
  const ChosenStep step(request, order);
  CHECK(step.at_least() == Approx(6e-3 + 6 * 20e-3 + (1.4 + 4 * 0.4 + 1) * 1e-6).epsilon(1e-9));
  const ChosenStep::EarlyLoadLimits early{no_limit, {}, no_limit};
  CHECK(step.at_least() <= run_seconds(finish(step.listed(early), request)));
}

/// Returns the seconds of the fastest way to settle the candidate. Infinity if no way fits into the memory.
double least_seconds(const Candidate& candidate) {
  double least = std::numeric_limits<double>::infinity();
  if (!candidate.open) {
    candidate.simulate(least, [&](const Settled& one) { least = std::min(least, one.seconds); });
    return least;
  }
  for (const Candidate& one : candidate.open()) least = std::min(least, least_seconds(one));
  return least;
}

/// Returns the least bound of the ways to train two layers. No activation is offloaded.
double bound_of_two_layers(const test::Row& row, const std::string& steps,
                           const std::vector<std::string>& machine, bool weights_stay = false) {
  const Scenario scenario =
      test::small_scenario(400, {row, row},
                           "workload: {mode: training, batch: 1, optimizer: none, steps: " + steps +
                               "}\nstages: {cut: per_layer}\npolicy: {name: streamed}\n",
                           machine);
  const CutModel cut = cut_models(scenario).front();
  PolicyRequest request = request_of(scenario, cut, plain_fates(fate_catalog().find("keep_all")));
  request.fates_open = true;
  const TrainingOrder order{
      .policy = "tested", .weights_stay = weights_stay, .in_flight = 1, .devices = {"gpu"}};
  const std::vector<Candidate> candidates = training_candidates(request, order);
  REQUIRE(candidates.size() == 1);
  CHECK(candidates.front().at_least <= least_seconds(candidates.front()));
  return candidates.front().at_least;
}

TEST_CASE("the bound of a training run counts the latency of its first load and of its last save") {
  // The first forward pass waits for an input of 400 bytes and weights of 1 kB: 1.4 us and the latency. The forward
  // passes take 2 ms, and the backward passes 4 ms. The save of the first layer's gradients takes 1 us and the latency.
  for (const double latency_ms : {0.0, 20.0}) {
    const double least = bound_of_two_layers(
        {1, 1'000, 400}, "1", {"platform.links.host.latency=" + std::to_string(latency_ms) + "ms"});
    CHECK(least == Approx(6.0024e-3 + 2e-3 * latency_ms).epsilon(1e-9));
  }
}

TEST_CASE("the bound of a training run without weights counts no copy of weights") {
  // Only the input of 400 bytes is loaded, with a set-up of 1 ms. The passes take 6 ms.
  const double least =
      bound_of_two_layers({1, 0, 400}, "1", {"platform.links.host.setup=1ms"}, true);
  CHECK(least == Approx(7.0004e-3).epsilon(1e-9));
}

TEST_CASE("the bound of a training run adds up loads and saves that share one bandwidth") {
  // A step loads an input of 400 bytes. It loads weights of 1 MB three times: the second layer needs them once, because
  // its backward pass follows its forward pass. The step saves 2 MB of gradients.
  const test::Row row{0.001, 1'000'000, 400};
  const double half = bound_of_two_layers(row, "10", {"platform.links.host.duplex=half"}),
               full = bound_of_two_layers(row, "10", {"platform.links.host.duplex=full"});
  CHECK(half == Approx(10 * 5.0004e-3).epsilon(1e-8));
  CHECK(full == Approx(10 * 3.0004e-3).epsilon(1e-8));
}

/// Divides a candidate into several candidates by Candidate::open, and divides these again. Returns the candidates that
/// cannot be divided further.
std::vector<Candidate> opened(const Candidate& candidate) {
  if (!candidate.open) return {candidate};
  std::vector<Candidate> all;
  for (const Candidate& one : candidate.open())
    for (Candidate& way : opened(one)) all.push_back(std::move(way));
  return all;
}

TEST_CASE(
    "no way to train takes fewer seconds than the bound for all numbers of micro-batches in flight",
    "[property]") {
  int compared = 0, reached = 0;
  Dice dice(2026);
  for (const std::string policy : {"streamed", "resident", "phased"})
    for (int c = 0; c < test::cases_of(8); ++c) {
      RandomCase made = test::random_case(dice, policy, /*training=*/true);
      made.cut = dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
      if (dice.one_in(2)) made.machine.push_back("platform.links.host.duplex=half");
      const Scenario scenario = scenario_of(made);
      const CutModel cut = cut_models(scenario).front();
      const std::vector<std::string> fates = {"keep_all", "offload_all", "sqrt", "recompute_all"};
      const Chosen<FateStrategy> strategy =
          plain_fates(fate_catalog().find(fates[dice.below(fates.size())]));
      PolicyRequest request = request_of(scenario, cut, strategy);
      request.capacity_enforced = false;
      request.fates_open = true;
      TrainingOrder order{.policy = "tested", .weights_stay = policy == "resident"};
      for (const Device& device : scenario.platform.devices)
        if (order.devices.empty() || policy == "phased") order.devices.push_back(device.name);
      order.overlap = !dice.one_in(4);
      for (const Candidate& candidate : training_candidates(request, order)) {
        INFO(policy << " case " << c << "\n" << made.text() << strategy->name);
        const double seconds = least_seconds(candidate);
        CHECK(candidate.at_least <= seconds);
        ++compared;
        reached += seconds <= candidate.at_least * (1 + 1e-6);
      }
    }
  CHECK(compared > 30);
  CHECK(reached > 0);
}

TEST_CASE(
    "with a second memory as the home of tensors, no way to train takes fewer seconds than its bounds",
    "[property][placement]") {
  // Inputs come from host memory. All other tensors come over the link `far`, which may be much slower than the link to
  // host memory.
  int compared = 0;
  Dice dice(2027);
  for (const std::string policy : {"streamed", "resident"})
    for (int c = 0; c < test::cases_of(12); ++c) {
      RandomCase made = test::random_case(dice, policy, /*training=*/true);
      made.cut = dice.one_in(3) ? "stages: {cut: whole}\n" : "stages: {cut: per_layer}\n";
      made.machine.push_back(
          "platform.devices.gpu.memory=[{capacity: unlimited, bandwidth: 1TB/s}, "
          "{name: ddr, capacity: unlimited, bandwidth: 1TB/s}]");
      made.machine.push_back(std::string("platform.links.far={joins: [gpu, gpu_ddr], bandwidth: ") +
                             (dice.one_in(2) ? "1MB/s" : "400MB/s") +
                             ", latency: " + (dice.one_in(2) ? "0us" : "300us") +
                             (dice.one_in(2) ? ", duplex: half}" : "}"));
      if (dice.one_in(3)) made.machine.push_back("platform.links.host.latency=20ms");
      const Scenario scenario = scenario_of(made);
      const CutModel cut = cut_models(scenario).front();
      const std::vector<std::string> fates = {"keep_all", "offload_all", "sqrt", "recompute_all"};
      PolicyRequest request = request_of(
          scenario, cut, plain_fates(fate_catalog().find(fates[dice.below(fates.size())])));
      request.capacity_enforced = false;
      request.fates_open = true;
      TrainingOrder order{.policy = "tested", .weights_stay = policy == "resident"};
      order.devices = {"gpu"};
      order.overlap = !dice.one_in(4);
      const auto of_policy = [&](const PolicyRequest& shown) {
        return training_candidates(shown, order);
      };
      for (const Candidate& candidate :
           backed_candidates(request, {order.devices, order.overlap}, of_policy)) {
        INFO(policy << " case " << c << "\n" << made.text() << request.strategy().name);
        double least = std::numeric_limits<double>::infinity();
        for (const Candidate& way : opened(candidate)) {
          const double seconds = least_seconds(way);
          CHECK(way.at_least <= seconds);
          least = std::min(least, seconds);
        }
        CHECK(candidate.at_least <= least);
        ++compared;
      }
    }
  CHECK(compared > 20);
}

TEST_CASE("a bound is lowered by more than many additions can round", "[unit]") {
  double sum = 0;
  for (int n = 0; n < 10'000'000; ++n) sum += 0.1;
  // The exact sum is 1e6, but `sum` is lower, because its additions are rounded. So a bound of 1e6 must be lowered, or
  // it would be above `sum`.
  CHECK(lowered_for_rounding(1e6, 0) > sum);
  CHECK(lowered_for_rounding(1e6, 1e7) <= sum);
  // Each of 1e7 additions may change the sum by a share of 2^-53, and 1e7 * 2^-53 = 1.11e-9.
  CHECK(lowered_for_rounding(1e6, 1e7) == Approx(1e6 * (1 - 1.1103e-9)).epsilon(1e-12));
}

}  // namespace
}  // namespace sluice
