// Makes one training step as a program (program.hpp). The step has the forward and backward passes of its
// micro-batches, and the updates. The fates of activations add recomputations and copies. A slot is one operation for
// one micro-batch.
//
// Gradients are summed over the micro-batches of a batch, and the update uses the sums. If weights take turns (policy
// `streamed`), the weights of a stage are loaded once for consecutive operations of this stage. Sums that
// are not complete go to host memory and are loaded again. The update saves weights and optimizer state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fates/tape.hpp"
#include "planning/program.hpp"

namespace sluice {

/// Data of a stage. A step needs them in addition to the chain: bytes on the device, and seconds of copies and of the
/// update.
struct StageState {
  std::int64_t weights = 0, gradients = 0, optimizer = 0;
  bool updates = false;
  double update_s = 0, weights_load_s = 0, gradients_load_s = 0, optimizer_load_s = 0;
  double weights_save_s = 0, gradients_save_s = 0, optimizer_save_s = 0;
  /// The seconds of selective recomputation, and the bytes of the tensors that it computes again.
  double selective_s = 0;
  std::int64_t selective_bytes = 0;
};

struct StepShape {
  const Chain& chain;
  const Tape& tape;
  const std::vector<StageState>& stages;
  std::int64_t micro_batches = 1;  ///< per batch
  std::int64_t batches = 1;        ///< the number of batches per step; an update ends each batch
  /// The number of micro-batches that go through the tape side by side.
  std::int64_t in_flight = 1;
  bool weights_stay = true;  ///< whether weights, gradients and optimizer state stay on the device
  bool split_backward = false;
  /// The number of devices that take turns. Each operation of the tape is a new phase on the next device. A tensor goes
  /// from one device to another device through host memory.
  std::uint32_t devices = 1;
};

/// Returns a training step as a program. The devices have no names yet, and the loads have no positions. The caller
/// sets the names and positions before listing (see load_when_needed() and load_late()).
Program make_step(const StepShape& shape);

}  // namespace sluice
