// A proven lower bound on the seconds of a training step of a chain within a budget. It holds for
// every schedule that runs each forward pass at least once and each backward pass once. It is the
// relaxation of relaxation.hpp, at the weights of seconds that give the greatest value. It is close
// where no stage needs to run again twice.
//
// Serial: computation and copies take turns, so every second counts.
//
// Overlapped: computation, saves and loads have one engine each, and one micro-batch follows the
// other. What is not on the device at the turning point was saved in the forward half of its
// micro-batch and is loaded in the backward half. For any stage s, the saves of what stages s and
// later made follow the forward passes up to s, so the forward half takes at least as long as both
// together. The loads for stages s and later precede backward s and everything after it, so the
// backward half takes at least as long as these. Each half also takes at least as long as its
// computation. The greatest weighted mean of these inequalities bounds both halves. The first load
// of the input may run during the micro-batch before, but each micro-batch has one.
//
// Side by side, the saves of what stage s made begin when the first micro-batch has been through s,
// and the backward pass of the last micro-batch through s follows the loads for s. So each
// inequality counts the computation of stage s itself for one micro-batch only. In addition, in the
// whole run an engine of copies has to do what every tape has to copy and what this tape copies: a
// weighted mean of that and of the halves bounds the run.
//
// Where host memory is limited, everything that is copied is there at the turning point. The bound
// then also holds if each byte of a copy is given a price in the seconds of its save, and the price
// of the whole room is subtracted. No save counts more than its seconds, so no byte counts more
// than its price.
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

/// `steps`: the number of steps in which the weights are improved; with more steps the bound is
/// closer. `whole_passes`: as in FateRun.
FateBound bound_of(const Chain& chain, std::int64_t budget, Copies copies, int steps = 200,
                   double whole_passes = 1);

/// What surrounds the micro-batches of a run. All weights come first, on the engine of loads, then
/// inputs; updates end each batch and take turns with the micro-batches.
struct FateRun {
  double micro_batches = 1, batches = 1;
  bool one_a_step = false;  ///< a step has one micro-batch
  double weights_s = 0;     ///< of their loads, where they stay
  double update_s = 0;      ///< of all stages, once
  /// Where weights take turns, the device computes nothing for this long: before the first forward
  /// pass, between steps, and after the last update.
  double first_s = 0, between_s = 0, last_s = 0;
  /// … and in each micro-batch, while the results of one device come to the next one.
  double handed_over_s = 0;
  double steps = 1;
  double idle_s() const { return first_s + (steps - 1) * between_s + last_s; }
  /// Side by side, some passes go through fewer micro-batches than others: this is the share of the
  /// passes that go through all of them.
  double whole_passes = 1;
};

/// A lower bound on the seconds of a run whose micro-batches take so many seconds from the first
/// forward pass to the end of the last backward pass. The first one begins when its input has
/// arrived. After the last input arrives, a whole micro-batch is computed, then an update.
double run_bound(const Chain& chain, const FateRun& run, double halves);

/// The same within a budget, where copies run beside computation: from the halves of bound_of() and
/// from the work of the copy engines.
double run_bound_within(const Chain& chain, const FateRun& run, std::int64_t budget,
                        int steps = 200);

/// The seconds of bound_of() alone.
double fate_bound(const Chain& chain, std::int64_t budget, Copies copies);

}  // namespace sluice
