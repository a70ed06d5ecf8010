// A proven lower bound on the seconds of a training step of a chain within a budget, for any
// schedule that runs each forward pass at least once and each backward pass once: the relaxation of
// relaxation.hpp, at the weights of seconds that give the greatest one. It is close where no stage
// needs to run again twice.
//
// Serial: computation and copies take turns, and every second counts.
//
// Overlapped: computation, saves and loads have an engine each, and one micro-batch follows the
// other. What is not on the device at the turning point was saved in the forward half of its
// micro-batch and is loaded in the backward half. For any stage s, the saves of what stages s and
// later made follow the forward passes up to s, so the forward half lasts as long as both together;
// and the loads for stages s and later precede backward s and all after it, so the backward half
// lasts as long as these. Each half also lasts as long as its computation. The greatest weighted
// mean of these bounds both halves. The input's first load may hide in the micro-batch before, but
// each micro-batch has one.
//
// Side by side, the saves of what stage s made begin when the first micro-batch has been through
// it, and the last one's backward pass of stage s follows the loads for it: of the computation of
// stage s itself each inequality counts that of one micro-batch. And an engine of copies alone has
// to do, in the whole run, what any tape has to copy and what this one copies: a weighted mean of
// that and of the halves bounds the run.
//
// Where host memory is limited, all that is copied is in it at the turning point: a price of its
// bytes in the seconds of saves, less the price of all the room, bounds likewise. No save counts
// more than its seconds, so no byte counts more than its price.
#pragma once

#include <cstdint>

#include "fates/optimal/relaxation.hpp"

namespace sluice {

enum class Copies : std::uint8_t { serial, overlapped };

struct FateBound {
  double seconds = 0;  ///< infinity where the turning point alone does not fit
  double halves = 0;   ///< from the first forward pass to the end of the last backward pass
  FateWeights weights;
};

/// `steps`: how long the weights are improved. More steps, a closer bound.
/// `whole_passes`: as in FateRun.
FateBound bound_of(const Chain& chain, std::int64_t budget, Copies copies, int steps = 200,
                   double whole_passes = 1);

/// What a run has around its micro-batches. All weights come first, on the engine of loads, then
/// inputs; updates end each batch and take turns with the micro-batches.
struct FateRun {
  double micro_batches = 1, batches = 1;
  bool one_a_step = false;  ///< a step has one micro-batch
  double weights_s = 0;     ///< of their loads, where they stay
  double update_s = 0;      ///< of all stages, once
  /// Where weights take turns, the device computes nothing for so long: before the first forward
  /// pass, between steps, and after the last update.
  double first_s = 0, between_s = 0, last_s = 0;
  /// … and in each micro-batch, while what one device made comes to the next one.
  double handed_over_s = 0;
  double steps = 1;
  double idle_s() const { return first_s + (steps - 1) * between_s + last_s; }
  /// Side by side, a pass of fewer is a part of a micro-batch: of all passes, those that are whole.
  double whole_passes = 1;
};

/// A lower bound on the seconds of a run whose micro-batches take so many from the first forward
/// pass to the end of the last backward pass. The first one begins when its input has arrived. And
/// after the last input that arrives a whole micro-batch is computed, then an update.
double run_bound(const Chain& chain, const FateRun& run, double halves);

/// The same within a budget, where copies run beside computation: as bound_of() has the halves, and
/// with what the engines of copies have to do.
double run_bound_within(const Chain& chain, const FateRun& run, std::int64_t budget,
                        int steps = 200);

/// Its seconds alone.
double fate_bound(const Chain& chain, std::int64_t budget, Copies copies);

}  // namespace sluice
