// Tests a bound of runs with many micro-batches in flight, on devices with limited memory.
#include <catch2/catch.hpp>

#include "planning/run_seconds.hpp"
#include "planning/training/chain/block_bound.hpp"
#include "planning/training/training.hpp"
#include "support/campaign.hpp"
#include "support/random_limits.hpp"
#include "support/random_training.hpp"
#include "support/small_case.hpp"

namespace sluice {
namespace {

TEST_CASE("no training run with limited memory takes fewer seconds than its blocks", "[property]") {
  test::Dice dice(4242);
  int compared = 0, raised = 0;
  for (int round = 0; round < test::cases_of(40); ++round) {
    const std::size_t devices = 1 + dice.below(3);
    const std::string text = test::random_training(dice, "phased", devices);
    const test::DrawnTraining drawn(text, dice);
    PolicyRequest request = drawn.request;
    Workload& workload = request.workload;
    TrainingOrder order{"phased", false};
    order.in_flight = least_of_blocks + static_cast<std::int64_t>(dice.below(9));
    const auto passes = static_cast<std::int64_t>(1 + dice.below(3));
    const auto last = static_cast<std::int64_t>(1 + dice.below(*order.in_flight));
    const std::int64_t micro_batches = (passes - 1) * *order.in_flight + last;
    if (passes == 1) order.in_flight = last;
    workload.batch = micro_batches * workload.micro_batch;
    workload.batches_per_step = static_cast<std::int64_t>(1 + dice.below(2));
    workload.steps = static_cast<std::int64_t>(1 + dice.below(2));
    drawn.add_devices(order, dice);
    INFO(text << request.strategy().name);
    CAPTURE(*order.in_flight, micro_batches, workload.batches_per_step, workload.steps);
    const ChosenStep step(request, order);
    const double with_much_memory = block_bound(request, order, 1'000 * step.peaks().greatest());
    for (int w = 0; w < 3; ++w) {
      ChosenStep::EarlyLoadLimits limits = test::random_limits(dice, step.peaks().greatest());
      const std::int64_t memory =
          step.peaks().greatest() +
          step.peaks().greatest() * static_cast<std::int64_t>(dice.below(20)) / 20;
      limits.room = std::min(limits.room.greatest(), memory);
      limits.run_room = memory;
      const double bound = block_bound(request, order, memory);
      const double seconds = run_seconds(finish(step.listed(limits), request));
      CAPTURE(memory, step.peaks().greatest());
      CHECK(bound <= seconds);
      CHECK((bound > 0) == (*order.in_flight >= least_of_blocks));
      ++compared;
      CHECK(with_much_memory <= bound);
      raised += bound > with_much_memory * (1 + 1e-6);
    }
  }
  CHECK(compared >= 120);
  CHECK(raised > compared / 4);
}

// The first stage has two layers. A sample has 1 MB between them, which is saved in 1 ms and loaded in 1 ms. The
// device has 21 MB. So in the block of 100 forward passes, at least 78 MB are saved before the last pass, and in the
// block of 100 backward passes, at least 79 MB are loaded.
TEST_CASE(
    "tensors of many micro-batches are saved during their forward passes and loaded during their backward passes",
    "[unit]") {
  const Scenario scenario = test::small_scenario(
      4, {{0.001, 4, 1'000'000}, {0.001, 4, 4}, {0.001, 8, 4}},
      "workload: {mode: training, batch: 100, micro_batch: 1, optimizer: none}\n"
      "stages: {cut: by_weight, groups: 2}\npolicy: {name: streamed}\n",
      {});
  const CutModel cut = cut_models(scenario).front();
  PolicyRequest request =
      request_of(scenario, cut, plain_fates(fate_catalog().find("offload_all")));
  TrainingOrder order{
      .policy = "tested", .weights_stay = false, .in_flight = 100, .devices = {"gpu"}};
  const double wide = block_bound(request, order, 1'000'000'000);
  const double narrow = block_bound(request, order, 21'000'000);
  CAPTURE(wide, narrow);
  CHECK(wide >= 0.1);
  CHECK(wide < 0.11);
  CHECK(narrow > 0.15);
  CHECK(narrow < 0.2);
  CHECK(block_bound(request, order, {}) == 0);
}

}  // namespace
}  // namespace sluice
