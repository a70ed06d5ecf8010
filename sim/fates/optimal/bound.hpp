// Computes a proven lower bound on the seconds of a training step of a chain within a memory budget. The bound holds
// for schedules in which each forward pass runs at least once, and each backward pass once. The bound is the value of
// the relaxation in relaxation.hpp, with the weights of seconds that give the greatest value. If no stage has to run
// more than twice, the bound is close to the fastest schedule.
//
// In a serial run, computation and copies take turns. The bound then counts the seconds of both.
//
// In an overlapped run, computation, saves and loads have one engine each, and micro-batches follow each other. The
// turning point is the first backward pass. Some tensors are not on the device at the turning point. They were saved
// in the forward half of their micro-batch, and they are loaded in the backward half.
//
// Take any stage s. The outputs of stage s and of later stages are saved after the forward passes of the stages up to
// s. So the forward half takes at least as long as these passes plus these saves. The loads for stage s and for later
// stages come before the backward passes of s and of earlier stages. So the backward half takes at least as long as
// these loads plus these passes. Each half also takes at least as long as its computation. Each of these sums bounds
// a half, so a weighted mean of the sums for a half bounds it, too. The weights make the two means together as great
// as possible. The first load of the input may run during the previous micro-batch, but every micro-batch has such a
// load.
//
// Suppose that micro-batches run side by side. The saves of stage s then begin when the first micro-batch has passed
// s. The backward pass of the last micro-batch through s follows the loads for s. So the sums for s count the
// computation of stage s for one micro-batch only. A second bound uses a copy engine. The engine makes the copies
// that every tape must make, and the copies that follow from the fates. A run takes at least as long as the copies of
// one engine. So a weighted mean of these seconds and of the halves also bounds the run.
//
// If host memory is limited, all copies must fit into it at the turning point. Then another bound holds, too. Each
// save takes longer by a price per byte, and the price of all available host memory is subtracted. A save has at most
// the weight 1 in the weighted mean. So each saved byte adds at most its price.
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

/// Returns the bound for this budget. The weights are improved in `steps` steps. With more steps, the bound is closer
/// to the best bound. Parameter `whole_passes` has the meaning of FateRun::whole_passes.
FateBound bound_of(const Chain& chain, std::int64_t budget, Copies copies, int steps = 200,
                   double whole_passes = 1);

/// The seconds that a run takes in addition to its micro-batches. At the start, one engine loads all weights and then
/// the inputs. Each batch ends with an update, and no micro-batch is computed during an update.
struct FateRun {
  double micro_batches = 1, batches = 1;
  bool one_a_step = false;  ///< whether a step has one micro-batch
  double weights_s = 0;     ///< the seconds of the first load of the weights that stay
  double update_s = 0;      ///< the seconds of one update of all stages
  /// If weights take turns, the device computes nothing in these seconds: before the first forward pass, between two
  /// steps, and after the last update.
  double first_s = 0, between_s = 0, last_s = 0;
  /// In each micro-batch, results go from device to device for these seconds. The device then computes nothing.
  double handed_over_s = 0;
  double steps = 1;
  double idle_s() const { return first_s + (steps - 1) * between_s + last_s; }
  /// The share of passes over the model that compute the full number of micro-batches. It is below 1 only if
  /// micro-batches run side by side.
  double whole_passes = 1;
};

/// Returns a lower bound on the seconds of a run. `halves` is a lower bound on the seconds of one micro-batch, from
/// its first forward pass to its last backward pass. The first micro-batch begins when its input has arrived. After
/// the last input has arrived, one whole micro-batch and an update follow.
double run_bound(const Chain& chain, const FateRun& run, double halves);

/// Returns a lower bound on the seconds of a run within a budget, if copies run during computation. The bound uses the
/// halves of bound_of() and the work of the copy engines.
double run_bound_within(const Chain& chain, const FateRun& run, std::int64_t budget,
                        int steps = 200);

/// Returns only the seconds of bound_of().
double fate_bound(const Chain& chain, std::int64_t budget, Copies copies);

}  // namespace sluice
