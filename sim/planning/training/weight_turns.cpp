#include "planning/training/weight_turns.hpp"

namespace sluice {

WeightTurns::WeightTurns(ProgramDraft& draft, const StepShape& shape)
    : draft_(draft),
      shape_(shape),
      stages_(shape.stages),
      weights_(stages_.size(), none),
      gradients_(stages_.size(), none) {}

void WeightTurns::begin_pass(bool first, bool last) {
  first_pass_ = first;
  last_pass_ = last;
}

void WeightTurns::need_weights(std::size_t stage, Program::Operation& slot) {
  const StageState& state = stages_[stage];
  if (state.weights == 0 || shape_.stays(stage).weights) return;
  if (run_stage_ != stage || run_device_ != slot.device) {
    run_stage_ = stage;
    run_device_ = slot.device;
    weights_[stage] = load("weights", TensorClass::weight, state.weights, stage,
                           state.weights_load_s, Program::Home::weights, slot);
  }
  draft_.use(slot, weights_[stage]);
}

void WeightTurns::need_gradients(std::size_t stage, Program::Operation& slot) {
  const StageState& state = stages_[stage];
  if (state.gradients == 0 || shape_.stays(stage).gradients) return;
  std::uint32_t& sum = gradients_[stage];
  if (!open_gradients_ && first_pass_) {
    sum = draft_.make_numbered("gradients", TensorClass::gradient, state.gradients, stage, -1);
    slot.makes.push_back(sum);
  } else if (!open_gradients_) {
    sum = load("gradients", TensorClass::gradient, state.gradients, stage, state.gradients_load_s,
               Program::Home::none, slot, sum);
  }
  open_gradients_ = true;
  draft_.use(slot, sum);
}

void WeightTurns::end_gradients(std::size_t stage) {
  if (stages_[stage].gradients == 0) return;
  open_gradients_ = false;
  if (last_pass_ && stages_[stage].updates) return update(stage);
  if (shape_.stays(stage).gradients) return;
  Program::Instance& sum = draft_[gradients_[stage]];
  if (last_pass_) {  // without an update, the complete sum is the answer
    sum.home = Program::Home::gradients;
    sum.saved_home = true;
  }
  draft_.save_after(gradients_[stage], draft_.next() - 1);
}

std::uint32_t WeightTurns::load(const char* what, TensorClass tensor_class, std::int64_t bytes,
                                std::size_t stage, double load_s, Program::Home home,
                                Program::Operation& slot, std::uint32_t copy_of) {
  const std::uint32_t loaded = draft_.make_numbered(what, tensor_class, bytes, stage, -1);
  draft_.bring(loaded, load_s, home, copy_of);
  slot.loads.push_back(loaded);
  return loaded;
}

void WeightTurns::update(std::size_t stage) {
  const StageState& state = stages_[stage];
  if (state.weights == 0) return;
  Program::Operation slot = draft_.operation(ActionKind::update, stage);
  slot.seconds = state.update_s;
  need_weights(stage, slot);
  const StayingTensors stays = shape_.stays(stage);
  std::vector<std::uint32_t> written;
  if (!stays.gradients) draft_.use(slot, gradients_[stage]);
  if (!stays.weights) written.push_back(weights_[stage]);
  if (state.optimizer > 0 && !stays.optimizer) {
    written.push_back(load("optimizer", TensorClass::optimizer, state.optimizer, stage,
                           state.optimizer_load_s, Program::Home::optimizer, slot));
    draft_.use(slot, written.back());
  }
  draft_.add(std::move(slot));
  for (const std::uint32_t number : written) {
    draft_[number].saved_home = true;
    draft_.save_after(number, draft_.next() - 1);
  }
}

}  // namespace sluice
