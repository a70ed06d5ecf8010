// Compares the bound that WorkOfBatches extrapolates from small batches with the bound from the sums of whole batches.
#include <catch2/catch.hpp>

#include <algorithm>

#include "document/load.hpp"
#include "planning/training/work_of_batches.hpp"
#include "scenario/scenario.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

/// Returns the bound that follows from the sums of a step, for a run of `steps` steps.
double bound_of(const TrainingSums& step, std::int64_t steps, bool overlap) {
  const auto all = [&](double of_step) { return static_cast<double>(steps) * of_step; };
  const TrainingSums::StayingLoads& staying = step.staying;
  if (!overlap) return staying.load_s + all(step.compute_s + step.load_s + step.save_s);
  return std::max({step.first_loads_s + all(step.compute_s) + step.last_saves_s,
                   staying.load_s + all(step.load_s), all(step.save_s),
                   staying.link_s + all(step.link_s)});
}

TEST_CASE("the extrapolated work of batches is at most the work of a whole run") {
  test::Dice dice(1005);
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t devices = 1 + dice.below(3);
    const bool overlap = round % 2 == 0;
    const std::string text = test::random_training(dice, "phased", devices);
    const test::DrawnTraining drawn(text, dice);
    PolicyRequest request = drawn.request;
    const auto steps = static_cast<std::int64_t>(1 + dice.below(3));
    request.workload.steps = steps;
    request.workload.batch = 2 * request.workload.micro_batch;  // batches may have several of them
    TrainingOrder order{"phased", false, {}, {}, overlap};
    for (const Device& device : drawn.scenario.platform.devices)
      order.devices.push_back(device.name);
    if (devices == 1 && dice.one_in(2))
      for (std::size_t s = 0; s < drawn.cut.stages.size(); ++s)
        order.staying.push_back(test::random_staying(dice));
    const WorkOfBatches work(request, order);
    INFO(text << request.strategy().name);
    for (const std::int64_t in_flight : {1, 2, 3, 5})
      for (const std::int64_t passes : {1, 2, 3})
        for (const std::int64_t batches : {1, 2, 3, 5}) {
          PolicyRequest whole = request;
          const std::int64_t micro_batches = (passes - 1) * in_flight + 1 + dice.below(in_flight);
          whole.workload.batch = micro_batches * request.workload.micro_batch;
          whole.workload.batches_per_step = batches;
          order.in_flight = in_flight;
          const StepSize size{micro_batches, std::min(in_flight, micro_batches), batches};
          const double all = bound_of(training_sums(whole, order, {size}).front(), steps, overlap);
          CAPTURE(in_flight, passes, batches, steps, overlap, micro_batches, devices);
          const double bound =
              work.at_least(static_cast<double>(batches * steps), micro_batches, passes);
          CHECK(bound <= all);
          CHECK(bound == Approx(all).epsilon(1e-6));
          ++compared;
        }
  }
  CHECK(compared == 60 * 48);
}

// The first device has the smaller memory, and is 1000 times as slow as the second one. So sums with its prices are
// about twice as long as the run, because it computes only one of two equal stages.
TEST_CASE("no bound is computed with the prices of one device if the devices are not alike") {
  for (const std::string fates : {"keep_all", "optimal"}) {
    const Scenario scenario = read_scenario(
        parse_text(
            "format: sluice-scenario/1\n"
            "model: {definition: {format: sluice-model/1, name: two, layers: [{type: input, name: x, "
            "shape: [100]}, {type: dense, name: a, features: 100}, {type: dense, name: b, features: "
            "100}]}}\n"
            "platform: {format: sluice-platform/1, name: two, devices: {slow: {rate: {float32: "
            "1MFLOP/s}, memory: {capacity: 1MB}}, quick: {rate: {float32: 1GFLOP/s}, memory: "
            "{capacity: 2MB}}}, memories: {host: {capacity: unlimited}}, links: {a: {joins: [host, "
            "slow], bandwidth: 1GB/s}, b: {joins: [host, quick], bandwidth: 1GB/s}}}\n"
            "workload: {batch: 2, micro_batch: 1, mode: training, optimizer: none}\n"
            "stages: per_layer\n"
            "policy: {name: phased}\n"
            "cost: peak\n"
            "fates: " +
                fates + "\n",
            "unlike.yaml"),
        "unlike");
    const CutModel cut = cut_models(scenario).front();
    const PolicyRequest request = request_of(scenario, cut, scenario.fates);
    const TrainingOrder order{"phased", false, {}, {"slow", "quick"}, true};
    CHECK(training_at_least(request, order) == 0);
    INFO(fates);
    for (const Fact& fact : make_plan(scenario).facts) CHECK(fact.name != "beaten_bound");
  }
}

}  // namespace
}  // namespace sluice
