// Weights, gradients and optimizer state where they take turns on the device: they come for the
// slots that need them, and go again. Internal to make_step().
#pragma once

#include <vector>

#include "planning/program_draft.hpp"
#include "planning/training/step.hpp"

namespace sluice {

class WeightTurns {
 public:
  /// Both must outlive this.
  WeightTurns(ProgramDraft& draft, const std::vector<StageState>& stages);

  /// Through the tape with some micro-batches of a batch: its first, its last ones?
  void begin_pass(bool first, bool last);
  /// A run of slots of one stage shares one load of its weights.
  void need_weights(std::size_t stage, Program::Operation& slot);
  /// The sum of the gradients: new in the first pass of a batch, from host memory in later ones.
  void need_gradients(std::size_t stage, Program::Operation& slot);
  /// After the last backward of the stage in this pass: saves the sum, or updates with it.
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
  std::vector<std::uint32_t> weights_, gradients_;  ///< per stage: the instance at hand
};

}  // namespace sluice
