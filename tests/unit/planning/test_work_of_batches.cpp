// Compares the sums that WorkOfBatches extrapolates from small batches with the sums of whole batches.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "planning/training/work_of_batches.hpp"
#include "scenario/scenario.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

TEST_CASE("the extrapolated work of batches is at most the work of a whole step") {
  test::Dice dice(1005);
  const std::vector<std::string> strategies = {"keep_all", "recompute_all", "offload_all",
                                               "checkpoint", "sqrt"};
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t devices = 1 + dice.below(3);
    const std::string text = test::random_training(dice, "phased", devices);
    const Scenario scenario = read_scenario(parse_text(text, "random.yaml"), "random");
    const CutModel cut = cut_model(scenario);
    PolicyRequest request{{cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform,
                           *scenario.cost, scenario.workload.dtype, &*scenario.workload.training},
                          scenario.workload,
                          plain_fates(fate_catalog().find(strategies[dice.below(5)]))};
    request.capacity_enforced = false;
    request.workload.steps = 1;
    TrainingOrder order{"phased", false, {}, {}, false};
    for (const Device& device : scenario.platform.devices) order.devices.push_back(device.name);
    const WorkOfBatches work(request, order);
    INFO(text << request.strategy().name);
    for (const std::int64_t in_flight : {1, 2, 3, 5})
      for (const std::int64_t passes : {1, 2, 3})
        for (const std::int64_t batches : {1, 2}) {
          PolicyRequest whole = request;
          const std::int64_t micro_batches = (passes - 1) * in_flight + 1 + dice.below(in_flight);
          whole.workload.batch = micro_batches * request.workload.micro_batch;
          whole.workload.batches_per_step = batches;
          order.in_flight = in_flight;
          const TrainingSums sums = training_sums(whole, order);
          const double all = sums.compute_s + sums.load_s + sums.save_s;
          CAPTURE(in_flight, passes, batches, micro_batches, devices);
          const double bound = work.at_least(static_cast<double>(batches), micro_batches, passes);
          CHECK(bound <= all);
          CHECK(bound == Approx(all).epsilon(1e-6));
          ++compared;
        }
  }
  CHECK(compared == 60 * 24);
}

}  // namespace
}  // namespace sluice
