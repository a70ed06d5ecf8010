// Makes one training step, or one of its equal rounds, as a program (program.hpp). It has the forward and backward
// passes of its micro-batches, and the updates. Recomputations and copies come from the fates of activations. A slot is
// an operation for one micro-batch.
//
// Gradients are summed over the micro-batches of a batch, and the update uses the sums. If the weights of a stage take
// turns (policy `streamed`), they are loaded again after each operation of another stage whose weights take turns. If
// gradients take turns, sums that are not yet complete go to host memory and are loaded again. If the optimizer state
// takes turns, the update loads it. After the update, those of the weights and the optimizer state that take turns are
// saved. A stage updates its weights directly after its last backward pass. But if all its tensors stay on the only
// device, the update comes at the end of the batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fates/tape.hpp"
#include "planning/program.hpp"
#include "planning/training/staying.hpp"

namespace sluice {

/// What a step needs to know about a stage beyond what the chain says: the bytes of its weights, gradients and
/// optimizer state, and the seconds of their copies and of the update.
struct StageState {
  std::int64_t weights = 0, gradients = 0, optimizer = 0;
  /// Which of these tensors stay on the device although other tensors take turns.
  StayingTensors stays = {};
  bool updates = false;
  double update_s = 0, weights_load_s = 0, gradients_load_s = 0, optimizer_load_s = 0;
  double weights_save_s = 0, gradients_save_s = 0, optimizer_save_s = 0;
  /// If backward passes are split in two: the seconds of the half that makes the gradients of inputs, and of the half
  /// that makes the gradients of weights. Both are 0 if backward passes are not split.
  double backward_input_s = 0, backward_weight_s = 0;
  /// The seconds of the stage's selective recomputation, and the bytes of the tensors that it computes again.
  double selective_s = 0;
  std::int64_t selective_bytes = 0;
};

struct StepShape {
  const Chain& chain;
  const Tape& tape;
  const std::vector<StageState>& stages;
  std::int64_t micro_batches = 1;  ///< per batch
  std::int64_t batches = 1;        ///< the number of batches per round; an update ends each batch
  /// The number of micro-batches side by side: each operation of the tape is done for all of them before the next
  /// operation.
  std::int64_t in_flight = 1;
  /// Whether the weights, gradients and optimizer state of all stages stay on the device.
  bool weights_stay = true;
  bool split_backward = false;
  /// The number n of devices that take turns. Stage s runs on device s mod n, in both directions. Consecutive passes of
  /// one stage are a phase. Tensors go from device to device through host memory.
  /// If Chain::devices is 1, the tape is written as if these devices shared one memory (on_devices).
  std::uint32_t devices = 1;
  /// The number of equal rounds of a step. The program is one of these rounds.
  std::int64_t rounds_per_step = 1;
  /// If it is more than 1, a round is only some of the passes of a batch: `micro_batches` is the number of
  /// micro-batches of the round, and all weights, gradients and optimizer state stay.
  std::int64_t rounds_per_batch = 1;
  /// If true, the program has no updates, because these follow the last round of the batch (add_updates()).
  bool updates_follow = false;
  /// The number of passes that the only batch has besides those of the program. They equal passes in the middle of the
  /// program, and the plan lists those only once (list_training()).
  std::int64_t more_passes = 0;

  /// Returns which tensors of this stage stay on the device.
  StayingTensors stays(std::size_t stage) const {
    return weights_stay ? all_stay : stages[stage].stays;
  }
  /// Returns whether the update of this stage comes at the end of the batch. If several devices take turns, this would
  /// be another phase.
  bool updates_last(std::size_t stage) const { return devices == 1 && stays(stage).all(); }
};

/// Returns a round of a training step as a program. The caller must still give the devices their names, and add the
/// loads (see loads_when_needed() and load_late()).
Program make_step(const StepShape& shape);

/// Adds the updates at the end of a batch, which are the same for every batch (StepShape::updates_last()).
void add_updates(const StepShape& shape, Program& step);

}  // namespace sluice
