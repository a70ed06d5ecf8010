// Weights, gradients and optimizer state that take turns on the device. These tensors are loaded for the
// slots (step.hpp) that need them, and leave the device afterwards. Only make_step() uses this class.
#pragma once

#include <vector>

#include "planning/program_draft.hpp"
#include "planning/training/step.hpp"

namespace sluice {

class WeightTurns {
 public:
  /// `draft` and `stages` must outlive this object.
  WeightTurns(ProgramDraft& draft, const std::vector<StageState>& stages);

  /// Begins a pass, in which some micro-batches of a batch go through all operations of the tape. `first` and `last`
  /// say whether the pass is the first pass or the last pass of the batch.
  void begin_pass(bool first, bool last);
  /// Makes the slot use the weights of the stage. Consecutive slots of one stage share one load.
  void need_weights(std::size_t stage, Program::Operation& slot);
  /// Makes the slot add to the sum of the stage's gradients. The first pass of a batch makes the
  /// sum, and each later pass loads it from host memory.
  void need_gradients(std::size_t stage, Program::Operation& slot);
  /// Must be called after the last backward pass of the stage in this pass. Saves the sum, or
  /// updates the weights with the sum in the last pass.
  void end_gradients(std::size_t stage);

 private:
  std::uint32_t load(const char* what, TensorClass tensor_class, std::int64_t bytes,
                     std::size_t stage, double load_s, Program::Home home, Program::Operation& slot,
                     std::uint32_t copy_of = none);
  void update(std::size_t stage);

  ProgramDraft& draft_;
  const std::vector<StageState>& stages_;
  bool first_pass_ = true, last_pass_ = true, open_gradients_ = false;
  std::size_t run_stage_ = none;
  std::uint32_t run_device_ = 0;
  std::vector<std::uint32_t> weights_, gradients_;  ///< the current instance, indexed by stage
};

}  // namespace sluice
