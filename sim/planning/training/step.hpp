// One training step as a program: forward and backward passes of its micro-batches under the fates
// of their activations, and updates.
//
// Gradients are summed over the micro-batches of a batch and then used by the update. Where weights
// take turns (streamed), a stage's weights come in for each run of operations of that stage;
// gradients that are not complete go to host memory and come back, and the update saves weights and
// state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fates/tape.hpp"
#include "planning/program.hpp"

namespace sluice {

/// What a step needs to know of a stage beside the chain: bytes on the device.
struct StageState {
  std::int64_t weights = 0, gradients = 0, optimizer = 0;
  bool updates = false;
  double update_s = 0, weights_load_s = 0, gradients_load_s = 0, optimizer_load_s = 0;
  double weights_save_s = 0, gradients_save_s = 0, optimizer_save_s = 0;
  /// Selective recomputation: its seconds, and the bytes that come back by it.
  double selective_s = 0;
  std::int64_t selective_bytes = 0;
};

struct StepShape {
  const Chain& chain;
  const Tape& tape;
  const std::vector<StageState>& stages;
  std::int64_t micro_batches = 1;  ///< of a batch
  std::int64_t batches = 1;        ///< of a step; an update ends each
  std::int64_t in_flight = 1;      ///< micro-batches that go through the tape side by side
  bool weights_stay = true;        ///< on the device, with gradients and state
  bool split_backward = false;
  /// Devices that take turns: each operation of the tape is a phase of the next one. What a phase
  /// needs and another device has goes through host memory.
  std::uint32_t devices = 1;
};

/// A training step as a program. Its devices have no names, and its loads no places yet: who lists
/// it says which (see load_when_needed() and load_late()).
Program make_step(const StepShape& shape);

}  // namespace sluice
