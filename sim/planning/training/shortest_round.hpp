// Finds the shortest round of a training step: the batches after which the work of the step repeats.
#pragma once

#include "planning/training/training.hpp"

namespace sluice {

/// Returns the shape of the shortest round of `step`, whose batches are all batches of a step. If no weights take
/// turns, all batches are alike. Then a round is the smallest number of batches that divides the step and is long
/// enough for loads: a load is listed at most one round before the operation that needs it. If there is no such number,
/// or if weights take turns, the round is the whole step: a batch may begin with weights that the batch before left on
/// the device.
StepShape shortest_round(const StepShape& step, const Platform& platform,
                         const TrainingOrder& order);

}  // namespace sluice
