// One training step on one device, before it is a plan: its computations in listing order (slots),
// and every tensor that is on the device for some of them (instances). From it follow the bytes of
// each slot, executed alone, and so what fits; listing turns it into actions.
//
// Gradients are summed over the micro-batches of a batch and then used by the update. Where weights
// take turns (streamed), a stage's weights come in for each run of slots of that stage; gradients
// that are not complete go to host memory and come back, and the update saves weights and state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fates/tape.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// What a step needs to know of a stage beside the chain: bytes on the device.
struct StageState {
  std::int64_t weights = 0, gradients = 0, optimizer = 0;
  bool updates = false;
  double update_s = 0, weights_load_s = 0, gradients_load_s = 0, optimizer_load_s = 0;
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

struct Step {
  enum class Home : std::uint8_t { none, input, weights, optimizer, gradients };

  /// A tensor on the device, from the slot that makes it (or needs it loaded) to its last user.
  struct Instance {
    std::string name;  ///< a tensor that comes again has the same one
    TensorClass tensor_class = TensorClass::activation;
    std::int64_t bytes = 0;
    std::int32_t stage = -1, micro_batch = -1;
    std::uint32_t device = 0;
    std::int64_t first = 0, last = 0;  ///< slots
    bool loaded = false;
    double load_s = 0;
    /// Where a load takes it from: a home in host memory, or what another instance's save left.
    Home home = Home::none;
    std::uint32_t copy_of = none;  ///< instance
    std::uint32_t saves = none;    ///< number of its save in slots[saved_at]
    std::int64_t saved_at = -1;    ///< slot; -1: not saved
    bool saved_home = false;       ///< into its home
  };

  struct Slot {
    ActionKind kind = ActionKind::forward;
    std::int32_t stage = 0, micro_batch = -1;
    std::uint32_t device = 0;
    std::int64_t phase = 0;  ///< number of the tape's operation, counted through the step
    double seconds = 0;
    bool selective = false;  ///< a recompute of the selective part
    bool ends_micro_batch = false;
    std::int64_t workspace = 0;
    std::vector<std::uint32_t> loads, makes, uses, saves;  ///< instances
  };

  std::vector<Instance> instances;
  std::vector<Slot> slots;
  std::int64_t constant_bytes = 0;  ///< weights, gradients and state that stay
  std::int64_t passes = 0;          ///< of a batch

  /// On a device while each slot runs alone.
  std::vector<std::int64_t> bytes(std::uint32_t device = 0) const;
  std::int64_t peak(std::uint32_t device = 0) const;
};

Step make_step(const StepShape& shape);

}  // namespace sluice
