// Tests a lower bound on the peak of training. The bound for many micro-batches in flight is computed from the peaks
// for two and three micro-batches in flight. A step whose bound is above the capacity of the memory need not be
// planned.
#include <catch2/catch.hpp>

#include "document/load.hpp"
#include "planning/training/training.hpp"
#include "scenario/scenario.hpp"
#include "support/random_training.hpp"

namespace sluice {
namespace {

TEST_CASE("the peak of training is convex in the number of micro-batches in flight") {
  test::Dice dice(1004);
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string text = test::random_training(dice);
    const test::DrawnTraining drawn(text, dice);
    const PolicyRequest& request = drawn.request;
    const TrainingOrder order{"streamed", false, {}, {"gpu"}, true};
    const auto peak = [&](std::int64_t micro_batches, std::int64_t in_flight) {
      return training_sums(request, order, {{micro_batches, in_flight}}).front().peaks.greatest();
    };
    INFO(text << request.strategy().name);
    for (const std::int64_t passes : {1, 2, 3}) {
      // The bound comes from the peaks of two small steps, with 2 and with 3 micro-batches in flight. If the step in
      // question has one pass over the model, each small step has one pass, too. If it has several passes, each small
      // step has two passes: a full pass, and a pass of a single micro-batch.
      const std::int64_t beside = passes == 1 ? 0 : 1;
      const std::int64_t two = peak(2 + beside, 2), three = peak(3 + beside, 3);
      for (const std::int64_t in_flight : {4, 5, 9}) {
        const std::int64_t bound = three + (in_flight - 3) * (three - two);
        CHECK(peak(passes * in_flight, in_flight) >= bound);
        CHECK(peak((passes - 1) * in_flight + beside + (passes == 1 ? in_flight : 0), in_flight) >=
              bound);
        ++compared;
      }
    }
  }
  CHECK(compared == 540);
}

// The sums of small steps are computed with the fates of the request's own step. So the fates, and all other parts of
// the sums, must not depend on the size of the batch.
TEST_CASE("the sums of a small step are those of a request with this batch") {
  test::Dice dice(1005);
  for (int round = 0; round < 60; ++round) {
    const std::string text = test::random_training(dice);
    const test::DrawnTraining drawn(text, dice);
    const PolicyRequest& request = drawn.request;
    const TrainingOrder order{"streamed", dice.one_in(3), {}, {"gpu"}, dice.one_in(2)};
    const auto micro_batches = static_cast<std::int64_t>(1 + dice.below(4));
    const StepSize size{
        micro_batches,
        static_cast<std::int64_t>(1 + dice.below(static_cast<std::size_t>(micro_batches))),
        static_cast<std::int64_t>(1 + dice.below(2))};
    PolicyRequest small = request;
    small.workload.batch = size.micro_batches * request.workload.micro_batch;
    small.workload.batches_per_step = size.batches;
    TrainingOrder settled = order;
    settled.in_flight = size.in_flight;
    INFO(text << request.strategy().name);
    const TrainingSums sums = training_sums(request, order, {size}).front();
    const TrainingSums own = training_sums(small, settled, {size}).front();
    CHECK(sums.peaks == own.peaks);
    for (const auto what : {&TrainingSums::compute_s, &TrainingSums::load_s, &TrainingSums::save_s,
                            &TrainingSums::link_s, &TrainingSums::additions,
                            &TrainingSums::first_loads_s, &TrainingSums::last_saves_s})
      CHECK(sums.*what == own.*what);
  }
}

}  // namespace
}  // namespace sluice
