// Computes a proven lower bound on the seconds of a training step of a chain within a memory budget. In every schedule
// for which the bound holds, each forward pass runs at least once, and each backward pass once. The bound is the value
// of the relaxation in relaxation.hpp, with the weights of seconds that give the greatest value. The bound is close to
// the fastest schedule if no stage has to run more than twice.
//
// In a serial run, computation and copies take turns, so the bound counts the seconds of both.
//
// In an overlapped run, computation, saves and loads have one engine each, and micro-batches follow each other. The
// turning point is the first backward pass. A tensor that is not on the device at the turning point was saved in the
// forward half of its micro-batch and is loaded in the backward half.
//
// For any stage s, the outputs of stage s and of later stages are saved after the forward passes of the stages up to s.
// So the forward half takes at least as long as these passes and saves together. The loads for stage s and later stages
// come before the backward pass of s and of all earlier stages. So the backward half takes at least as long as these
// loads and passes together. Each half also takes at least as long as its computation. So any weighted mean of the sums
// for a half is a lower bound on this half. The weights make the sum of the two means as great as possible.
// The first load of the input may run during the previous micro-batch, but every micro-batch has such a load.
//
// When micro-batches run side by side, the saves of the tensors of stage s begin when the first micro-batch has passed
// s. The backward pass of the last micro-batch through s follows the loads for s. So the sums for s count the
// computation of stage s for one micro-batch only. A run is bounded in a second way. A copy engine makes two kinds of
// copies: those that every tape must make, and those that follow from the fates. A weighted mean of the seconds of
// these copies and of the halves bounds the run.
//
// If host memory is limited, all copies must fit into host memory at the turning point. Then another bound holds, too:
// each save takes longer by a price per byte, and the price of all available host memory is subtracted. A save has at
// most the weight 1 in the weighted mean. So each saved byte adds at most its price.
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
  /// If weights take turns, the device computes nothing in these seconds: `first_s` before the
  /// first forward pass, `between_s` between two steps, and `last_s` after the last update.
  double first_s = 0, between_s = 0, last_s = 0;
  /// In each micro-batch, results go from device to device for these seconds. The device then computes nothing.
  double handed_over_s = 0;
  double steps = 1;
  double idle_s() const { return first_s + (steps - 1) * between_s + last_s; }
  /// When micro-batches run side by side, some passes over the model may compute fewer micro-batches than other passes.
  /// `whole_passes` is the share of the passes that compute the full number of micro-batches.
  double whole_passes = 1;
};

/// Returns a lower bound on the seconds of a run. `halves` is a lower bound on the seconds of both halves of a
/// micro-batch together: from its first forward pass to the end of its last backward pass. The first micro-batch begins
/// when its input has arrived. After the last input has arrived, one whole micro-batch and an update follow.
double run_bound(const Chain& chain, const FateRun& run, double halves);

/// Returns a lower bound on the seconds of a run within a budget, if copies run during computation. The bound uses the
/// halves of bound_of() and the work of the copy engines.
double run_bound_within(const Chain& chain, const FateRun& run, std::int64_t budget,
                        int steps = 200);

/// Returns only the seconds of bound_of().
double fate_bound(const Chain& chain, std::int64_t budget, Copies copies);

}  // namespace sluice
