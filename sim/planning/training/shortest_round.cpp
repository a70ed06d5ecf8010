#include "planning/training/shortest_round.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planning/training/late_loads.hpp"

namespace sluice {

namespace {

/// Returns whether no tensors of weights, gradients or optimizer state take turns.
bool no_turns(const StepShape& shape) {
  for (std::size_t s = 0; s < shape.stages.size(); ++s)
    if (!shape.stays(s).all()) return false;
  return true;
}

/// Returns how many batches a round must have so that no load has to be listed more than one round early. Let L be the
/// longest latency of a load. In each batch, the computations take C seconds, and the loads D seconds. The first
/// operation takes F seconds.
///
/// A load starts at the earliest when the first operation of the previous round has ended. If C is longer than D, a
/// load must start at most L + D seconds before the operation that needs it, because all other loads of the batch may
/// come first. So n batches are enough if n C is at least F + L + D. If D is longer than C, the first load of a batch
/// should start when the loads of the previous batch have ended. The first operation of the previous round ends L + F
/// seconds after its load, and meanwhile, the loads of n - 1 batches are made. So n batches are enough if n D is at
/// least F + L + D.
double batches_for_loads(const StepShape& shape, double latency_s) {
  StepShape one = shape;
  one.batches = 1;
  const Program batch = make_step(one);
  double compute_s = 0, load_s = 0;
  for (const Program::Operation& operation : batch.operations) compute_s += operation.seconds;
  for (const Program::Instance& instance : batch.instances)
    if (instance.loaded) load_s += instance.load_s;
  const double early_s = batch.operations.front().seconds + latency_s + load_s;
  const double batch_s = std::max(compute_s, load_s);
  return batch_s > 0 ? std::ceil(early_s / batch_s) : std::numeric_limits<double>::infinity();
}

}  // namespace

StepShape shortest_round(const StepShape& step, const Platform& platform,
                         const TrainingOrder& order) {
  if (step.batches == 1 || !no_turns(step)) return step;
  const double least =
      order.overlap
          ? batches_for_loads(step, std::ranges::max(load_latencies(platform, order.devices)))
          : 1;
  StepShape round = step;
  if (least >= static_cast<double>(step.batches)) return round;
  round.batches = std::max<std::int64_t>(1, static_cast<std::int64_t>(least));
  while (step.batches % round.batches != 0) ++round.batches;
  round.rounds_per_step = step.batches / round.batches;
  return round;
}

}  // namespace sluice
