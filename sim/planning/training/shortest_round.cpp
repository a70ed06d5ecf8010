#include "planning/training/shortest_round.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "planning/training/late_loads.hpp"

namespace sluice {

namespace {

/// Returns whether no tensors of weights, gradients or optimizer state take turns.
bool no_turns(const StepShape& shape) {
  for (std::size_t s = 0; s < shape.stages.size(); ++s)
    if (!shape.stays(s).all()) return false;
  return true;
}

/// Returns how many units a round must have so that no load has to be listed more than one round early. A unit is a
/// batch, or a pass. Let L be the longest latency of a load. In each unit, the computations take C seconds, and the
/// loads D seconds. The first operation takes F seconds.
///
/// A load starts at the earliest when the first operation of the previous round has ended. If C is longer than D, a
/// load must start at most L + D seconds before the operation that needs it, because all other loads of the unit may
/// come first. So n units are enough if n C is at least F + L + D. If D is longer than C, the first load of a unit
/// should start when the loads of the previous unit have ended. The first operation of the previous round ends L + F
/// seconds after its load, and meanwhile, the loads of n - 1 units are made. So n units are enough if n D is at
/// least F + L + D.
double units_for_loads(const StepShape& unit, double latency_s) {
  const Program program = make_step(unit);
  double compute_s = 0, load_s = 0;
  for (const Program::Operation& operation : program.operations) compute_s += operation.seconds;
  for (const Program::Instance& instance : program.instances)
    if (instance.loaded) load_s += instance.load_s;
  const double early_s = program.operations.front().seconds + latency_s + load_s;
  const double unit_s = std::max(compute_s, load_s);
  return unit_s > 0 ? std::ceil(early_s / unit_s) : std::numeric_limits<double>::infinity();
}

/// Returns the number of units in the shortest round. It divides `all`.
std::int64_t units_of_round(const StepShape& unit, std::int64_t all, const PolicyRequest& request,
                            const TrainingOrder& order) {
  const double least =
      order.overlap
          ? units_for_loads(
                unit, std::ranges::max(load_latencies(request.pricing.platform, order.devices)))
          : 1;
  if (least >= static_cast<double>(all)) return all;
  auto count = std::max<std::int64_t>(1, static_cast<std::int64_t>(least));
  while (all % count != 0) ++count;
  return count;
}

/// Returns whether a round may be some of the passes of a batch. If tensors are then placed in two memories, the body
/// must list whole batches.
bool passes_repeat(const StepShape& step, const PolicyRequest& request) {
  if (request.real_machine || request.made_to_change || step.micro_batches % step.in_flight != 0 ||
      step.micro_batches / step.in_flight <= most_listed_passes)
    return false;
  if (std::ranges::none_of(step.stages, &StageState::updates)) return !request.sums_gradients;
  return step.devices == 1 && step.batches == 1 && request.workload.steps == 1;
}

/// Returns the shortest round of the step if it is some of the passes of a batch, or nothing if it is whole batches.
/// Unlike replicas have rounds of different lengths, but the sums of their gradients belong to one section of the plan.
/// So if replicas sum gradients, the updates follow all rounds, even if a round is all passes of the batch.
std::optional<StepShape> round_of_passes(const StepShape& step, const PolicyRequest& request,
                                         const TrainingOrder& order) {
  if (!passes_repeat(step, request)) return {};
  const std::int64_t passes = step.micro_batches / step.in_flight;
  StepShape round = step;
  round.batches = 1;
  round.micro_batches = step.in_flight;
  round.rounds_per_batch = passes;
  round.updates_follow = true;
  const std::int64_t count = units_of_round(round, passes, request, order);
  if (count == passes && !request.sums_gradients) return {};
  round.micro_batches *= count;
  round.rounds_per_batch /= count;
  round.rounds_per_step = round.rounds_per_batch * step.batches;
  return round;
}

std::int64_t passes_of(const StepShape& step) {
  return (step.micro_batches + step.in_flight - 1) / step.in_flight;
}

/// Returns the step with fewer of its equal passes (StepShape::more_passes), or the step itself if it is not long. The
/// sums of gradients begin with the first pass and end with the last, so a run of several batches has no equal rounds.
StepShape with_few_passes(const StepShape& step, const PolicyRequest& request) {
  if (request.real_machine || request.made_to_change || request.sums_gradients ||
      request.replicas || step.batches > 1 || request.workload.steps > 1)
    return step;
  const std::int64_t passes = passes_of(step);
  const FewPasses some = few_passes(step.in_flight);
  if (step.micro_batches <= most_listed_passes || passes < some.least) return step;
  StepShape few = step;
  few.more_passes = (passes - some.listed) / some.equal * some.equal;
  few.micro_batches -= few.more_passes * few.in_flight;
  return few;
}

/// Returns whether the whole step of a batch is listed if all weights stay: then a load may have to come more than a pass
/// early, and passes that are listed only once would be slower.
bool is_short(const StepShape& step) {
  constexpr std::size_t most_operations = 300'000, operations_of_stage = 3;
  return static_cast<std::size_t>(step.micro_batches) <=
         most_operations / (operations_of_stage * step.stages.size());
}

}  // namespace

StepShape with_equal_peaks(const StepShape& step) {
  constexpr std::int64_t most_passes = 6, most_batches = 2;
  StepShape few = step;
  few.batches = std::min(step.batches, most_batches);
  few.micro_batches -= std::max<std::int64_t>(0, passes_of(step) - most_passes) * step.in_flight;
  return few;
}

StepShape shortest_round(const StepShape& step, const PolicyRequest& request,
                         const TrainingOrder& order) {
  if (!no_turns(step)) return with_few_passes(step, request);
  if (std::optional<StepShape> round = round_of_passes(step, request, order)) return *round;
  if (step.batches == 1) return is_short(step) ? step : with_few_passes(step, request);
  StepShape round = step;
  round.batches = 1;
  round.batches = units_of_round(round, step.batches, request, order);
  round.rounds_per_step = step.batches / round.batches;
  return round;
}

}  // namespace sluice
