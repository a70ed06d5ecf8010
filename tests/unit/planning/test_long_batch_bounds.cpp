// Tests bounds of training with a long batch, of which the program lists only a few passes. The bounds count the passes
// that are left out, too.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/chain/block_bound.hpp"
#include "planning/training/training.hpp"
#include "support/campaign.hpp"
#include "support/random_limits.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

TEST_CASE("no training run with a long batch takes fewer seconds than its bounds", "[property]") {
  test::Dice dice(77);
  int folded = 0, near = 0, near_anywhere = 0, near_blocks = 0;
  for (int round = 0; round < test::cases_of(30); ++round) {
    const std::size_t devices = 1 + dice.below(3);
    const std::string text = test::random_training(dice, "phased", devices);
    const test::DrawnTraining drawn(text, dice);
    PolicyRequest request = drawn.request;
    Workload& workload = request.workload;
    TrainingOrder order{devices > 1 ? "phased" : "streamed", false};
    order.in_flight = static_cast<std::int64_t>(dice.one_in(2) ? 1 + dice.below(4)
                                                               : least_of_blocks + dice.below(9));
    workload.batch = static_cast<std::int64_t>(10'000 + dice.below(90'000)) * workload.micro_batch;
    workload.batches_per_step = workload.steps = 1;
    drawn.add_devices(order, dice);
    INFO(text << request.strategy().name);
    CAPTURE(round, *order.in_flight, workload.batch);
    const ChosenStep step(request, order);
    if (step.program().left_out == 0) continue;
    for (int w = 0; w < 3; ++w) {
      ChosenStep::EarlyLoadLimits limits = test::random_limits(dice, step.peaks().greatest());
      const std::int64_t memory =
          step.peaks().greatest() +
          step.peaks().greatest() * static_cast<std::int64_t>(dice.below(20)) / 20;
      limits.room = std::min(limits.room.greatest(), memory);
      limits.run_room = memory;
      const Plan plan = finish(step.listed(limits), request);
      CHECK(plan.iterations > 1);
      const double seconds = run_seconds(plan);
      const ChosenStep within(request, order, memory);
      const double least = within.at_least(limits, step.offer(limits)),
                   anywhere = within.at_least(), blocks = block_bound(request, order, memory);
      CAPTURE(memory, step.peaks().greatest(), seconds);
      CHECK(least <= seconds * (1 + 1e-9));
      CHECK(anywhere <= seconds * (1 + 1e-9));
      CHECK(blocks <= seconds * (1 + 1e-9));
      ++folded;
      near += least > 0.99 * seconds;
      near_anywhere += anywhere > 0.9 * seconds;
      near_blocks += blocks > 0.9 * seconds;
    }
  }
  CAPTURE(near, near_anywhere, near_blocks);
  CHECK(folded > 30);
  CHECK(near > folded / 4);
  CHECK(near_anywhere > folded / 12);
  CHECK(near_blocks > folded / 8);
}

// The load of an optimizer state takes as long as several passes, and only the update at the end of the batch waits for
// it. Before, the bound of a way that lists this load before the equal passes counted it each time that these passes are
// repeated. So the fastest way was left out, and the run took 961.2 ms.
TEST_CASE("the bound of a long batch counts an early load for the update only once") {
  const std::string text = R"(format: sluice-scenario/1
model: {definition: {format: sluice-model/1, name: m, layers: [{type: input, name: x, shape: [8, 8, 1]}, {type: conv2d, name: a, channels: 16, kernel: 5, padding: same}, {type: conv2d, name: a2, channels: 1, kernel: 5, padding: same}, {type: dense, name: b, features: 500, bias: false}]}}
platform:
  format: sluice-platform/1
  name: small
  devices: {gpu0: {rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}, gpu1: {rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu0, gpu1], bandwidth: 1500kB/s, sharing: private}}
workload: {mode: training, batch: 1088, micro_batch: 1, optimizer: adam}
stages: {cut: explicit, after: [a2]}
fates: keep_all
policy: {name: phased, in_flight: 64, resident: all, resident_optimizer: none}
)";
  CHECK(run_seconds(make_plan(read_scenario(parse_text(text, "small.yaml"), "small"))) < 0.9502);
}

}  // namespace
}  // namespace sluice
