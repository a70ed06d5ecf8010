// Weights, gradients and optimizer state that take turns on the device. These tensors are loaded before the slots
// (step.hpp) that need them, and leave the device after these slots. Only make_step() uses this class.
#pragma once

#include <vector>

#include "planning/program_draft.hpp"
#include "planning/training/step.hpp"

namespace sluice {

class WeightTurns {
 public:
  /// `draft` and `shape` must outlive this object.
  WeightTurns(ProgramDraft& draft, const StepShape& shape);

  /// Begins a pass: some micro-batches of a batch go through all operations of the tape. `first` says whether this is
  /// the first pass of the batch, `last` whether it is the last.
  void begin_pass(bool first, bool last);
  /// Makes the slot use the weights of the stage, unless they stay. The weights are loaded only once for consecutive
  /// slots of one stage.
  void need_weights(std::size_t stage, Program::Operation& slot);
  /// Makes the slot add its gradients to the stage's sum of gradients, unless this sum stays. In the first pass of a
  /// batch, the stage's first slot makes this sum. In each later pass, the sum is loaded from host memory.
  void need_gradients(std::size_t stage, Program::Operation& slot);
  /// Must be called in each pass, after the stage's last backward pass, unless the stage's update comes at the end of the
  /// batch. Saves the sum of gradients, unless it stays. In the last pass of a batch, updates the weights with the sum instead, if the
  /// stage has an update.
  void end_gradients(std::size_t stage);

 private:
  std::uint32_t load(const char* what, TensorClass tensor_class, std::int64_t bytes,
                     std::size_t stage, double load_s, Program::Home home, Program::Operation& slot,
                     std::uint32_t copy_of = none);
  void update(std::size_t stage);

  ProgramDraft& draft_;
  const StepShape& shape_;
  const std::vector<StageState>& stages_;
  bool first_pass_ = true, last_pass_ = true, open_gradients_ = false;
  std::size_t run_stage_ = none;
  std::uint32_t run_device_ = 0;
  std::vector<std::uint32_t> weights_, gradients_;  ///< the current instance, indexed by stage
};

}  // namespace sluice
