// Finds the shortest round of a training step: the batches, or the passes of a batch, after which the work of the step
// repeats.
#pragma once

#include "planning/training/training.hpp"

namespace sluice {

/// Returns the shape of the shortest round of `step`, whose batches are all batches of a step. If no weights take
/// turns, all batches are alike. Then a round is the smallest number of batches that divides the step and is long
/// enough for loads: a load is listed at most one round before the operation that needs it. If there is no such number,
/// or if weights take turns, the round is the whole step: a batch may begin with weights that the batch before left on
/// the device. But if weights take turns in the only batch of a run on its own, and the batch has more than
/// `most_listed_passes` micro-batches in many passes, the round has only a few of these passes
/// (StepShape::more_passes).
///
/// If a batch has more than `most_listed_passes` passes and no weights take turns, all its passes are alike, too. Then
/// a round is a number of passes (StepShape::rounds_per_batch) that divides a batch. A batch ends with updates, which
/// are listed behind all rounds of the run. So with updates, the run must have only one batch, on one device or on each
/// of several replicas. Replicas that sum gradients without updates, and plans for two memories of a device, have whole
/// batches.
StepShape shortest_round(const StepShape& step, const PolicyRequest& request,
                         const TrainingOrder& order);

/// Returns a short step that needs as many bytes of each device as `step`: some of its batches, and of each batch the
/// passes in the middle, are left out.
StepShape with_equal_peaks(const StepShape& step);

/// Up to this number of passes, all passes of a batch are listed. If weights take turns: up to this number of
/// micro-batches.
constexpr std::int64_t most_listed_passes = 1024;
/// If weights take turns in a long batch, `listed` passes or a few more are listed. Of these, `equal` passes in the
/// middle must be equal. With many micro-batches in flight, fewer passes are listed, because each of them is long.
struct FewPasses {
  std::int64_t listed = 32, equal = 8;
  std::int64_t least = 256;  ///< a batch with fewer passes than this has all of them in its program
  std::int64_t before() const { return (listed - equal) / 2; }  ///< passes before the equal ones
};
constexpr FewPasses few_passes(std::int64_t in_flight) {
  return in_flight < 16 ? FewPasses() : in_flight < 64 ? FewPasses{12, 4, 96} : FewPasses{6, 2, 12};
}

}  // namespace sluice
