// Computes a proven lower bound on the seconds of a training step of a chain within a memory budget. The bound holds
// for schedules in which each forward pass runs at least once, and each backward pass once. The step takes at
// least as long as a weighted mean, which is described below. For given weights, the relaxation in relaxation.hpp gives
// a value that this mean has at least. The bound is the greatest value that was found. If no stage has to run more than
// twice, the bound is close to the seconds of the fastest schedule.
//
// In a serial run, computation and copies take turns. So the bound is for the sum of the seconds of both. It knows
// that a tensor is on the device as a whole or not at all (whole_tensors_bound). The bound of an overlapped run
// allows a part of a tensor to be on the device.
//
// In an overlapped run, computation, saves and loads have one engine each, and micro-batches follow each other. The
// turning point of a micro-batch is its first backward pass. Some tensors of the micro-batch are not on the device at
// the turning point. They were saved in the forward half, which is before this point, and they are loaded in the
// backward half.
//
// Take any stage s. First come the forward passes of the stages up to s, and then the saves of the outputs of stage s
// and of later stages. So the forward half takes at least as long as these passes plus these saves. In the backward
// half, first come the loads for stage s and for later stages, and then the backward passes of s and of earlier stages.
// So the backward half takes at least as long as these loads plus these passes. Each half also takes at least as long
// as its computation. So there are several lower bounds for a half: one for each stage s, and one for the computation.
// A weighted mean of them is a lower bound, too. The weights are chosen so that the sum of the means of both halves is
// as great as possible. The first load of the input may run during the previous micro-batch, so it is not in these
// bounds. But each micro-batch has such a load. So the seconds per micro-batch are also at least the seconds of this
// load.
//
// Suppose that micro-batches run side by side. Then the saves of stage s begin when the first micro-batch has passed s.
// The backward pass of the last micro-batch through s follows the loads for s. So the bounds for s count the
// computation of stage s for one micro-batch only. Besides the bounds for the two halves, there is another bound: it is
// for the whole run. A copy engine makes the copies that every tape must make, and the copies that follow from the
// fates. A run takes at least as long as these copies. So a weighted mean of the seconds of the copies and of the
// seconds of the halves is a lower bound, too.
//
// Several devices may take turns. Then each stage has its device, and hands over its results (ChainHandOver). The
// copies of these results belong to the sums of saves and loads above: outputs are saved after forward passes, and
// gradients are loaded before backward passes. Take the forward passes of stages s - 1 and s. From the end of the
// first to the start of the second, at least the wait of stage s passes, and no other forward pass of the forward
// half is possible. For different stages, these intervals have nothing in common. So the forward half takes at least
// its passes plus its waits. In the backward half, passes may run again during a wait. So the backward half takes at
// least the backward passes plus the waits, and at least the backward passes plus the passes that run again. The
// bounds for a stage s count only the waits between the passes that they count.
//
// If host memory is limited, all copies must fit into it at the turning point. Then another bound holds, too. Give each
// byte of host memory a price in seconds. Compute the bound as above, but let each save take longer by the price of its
// bytes. From the result, subtract the price of all available host memory. The weight of a save in the weighted mean is
// at most 1. So each saved byte adds at most its price, and all saved bytes together add at most what is subtracted.
#pragma once

#include <cstdint>

#include "fates/optimal/relaxation.hpp"

namespace sluice {

enum class Copies : std::uint8_t { serial, overlapped };

struct FateBound {
  double seconds = 0;  ///< infinite if the tensors at the turning point do not fit
  double halves = 0;   ///< a lower bound on the seconds of both halves of a micro-batch together
  FateWeights weights;
};

/// Returns the bound for this budget. The function improves the weights of the mean (FateWeights) in `steps` steps.
/// With more steps, the result is closer to the greatest possible value. `whole_passes` has the meaning of
/// FateRun::whole_passes.
FateBound bound_of(const Chain& chain, std::int64_t budget, Copies copies, int steps = 200,
                   double whole_passes = 1);

/// The numbers of micro-batches and batches of a run, and the seconds that the run takes in addition to its
/// micro-batches. One copy engine loads the weights and the inputs, in the order in which the first passes need them.
/// Each batch ends with an update, and no micro-batch is computed during an update.
struct FateRun {
  double micro_batches = 1, batches = 1;
  bool one_a_step = false;  ///< whether a step has one micro-batch
  /// If weights stay: the seconds of the first loads of all stages, and those of the first stage.
  double weights_s = 0, first_weights_s = 0;
  /// If weights stay: the least seconds for which the first forward passes wait for these loads.
  double weights_wait_s = 0;
  double update_s = 0;  ///< the seconds of one update of all stages
  /// If weights take turns, the seconds in which the device computes nothing: before the first forward pass, between
  /// two steps, and after the last update.
  double first_s = 0, between_s = 0, last_s = 0;
  double steps = 1;
  double idle_s() const { return first_s + (steps - 1) * between_s + last_s; }
  /// The share of a batch's micro-batches that are computed in full passes over the model. Only the last pass of a
  /// batch may not be full: it may have fewer micro-batches than the other passes. This share can be below 1 only if
  /// micro-batches run side by side.
  double whole_passes = 1;
};

/// Returns a lower bound on the seconds of a run. `halves` is a lower bound on the seconds of one micro-batch, from
/// its first forward pass to its last backward pass. The bound is the greatest of three sums. The first begins with the
/// arrival of the first input, after which all micro-batches follow. The second counts only computations, and the
/// seconds for which they wait for weights. The third begins with the arrival of the last input, after which one whole
/// micro-batch and an update follow. If this is not the only micro-batch, all weights have arrived before it begins.
double run_bound(const Chain& chain, const FateRun& run, double halves);

/// Returns a lower bound on the seconds of a run whose copies run during computation. The run has `budget` bytes of
/// memory. The bound follows from the lower bound on the halves of a micro-batch (FateBound::halves), and from the
/// seconds of the copies of each copy engine.
double run_bound_within(const Chain& chain, const FateRun& run, std::int64_t budget,
                        int steps = 200);

/// Returns only the seconds of bound_of().
double fate_bound(const Chain& chain, std::int64_t budget, Copies copies);

}  // namespace sluice
