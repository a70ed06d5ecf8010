#include "planning/training/step_again.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace sluice {

namespace {

/// A tensor that a step may load, and the seconds of its load.
struct Loaded {
  std::int64_t bytes;
  double seconds;
};

/// Returns all tensors that a step of this shape may load. Their order does not depend on seconds. Tensors with equally
/// many bytes are loaded in equally many seconds, so a load is found in this list by its bytes.
std::vector<Loaded> loaded_of(const StepShape& shape) {
  const auto of = [](const ChainTensor& tensor) { return Loaded{tensor.bytes, tensor.load_s}; };
  std::vector<Loaded> all = {of(shape.chain.input)};
  for (const ChainStage& stage : shape.chain.stages) {
    all.push_back(of(stage.output));
    all.push_back(of(stage.inner));
  }
  for (const StageState& state : shape.stages) {
    all.push_back({state.weights, state.weights_load_s});
    all.push_back({state.gradients, state.gradients_load_s});
    all.push_back({state.optimizer, state.optimizer_load_s});
  }
  return all;
}

double seconds_of(const Program::Operation& operation, const StepShape& shape) {
  const auto s = static_cast<std::size_t>(operation.stage);
  const ChainStage& stage = shape.chain.stages[s];
  const StageState& state = shape.stages[s];
  switch (operation.kind) {
    case ActionKind::forward:
      return stage.forward_s;
    case ActionKind::recompute:
      return operation.selective ? state.selective_s : stage.forward_s;
    case ActionKind::backward:
      return stage.backward_s - state.selective_s;
    case ActionKind::backward_input:
      return state.backward_input_s;
    case ActionKind::backward_weight:
      return state.backward_weight_s;
    case ActionKind::update:
      return state.update_s;
    default:
      throw InternalError("a training step has no " + std::string(name_of(operation.kind)));
  }
}

}  // namespace

std::optional<StepAgain> StepAgain::of(Program step, const StepShape& shape) {
  for (const Program::Operation& operation : step.operations)
    if (operation.seconds != seconds_of(operation, shape)) return {};
  const std::vector<Loaded> all = loaded_of(shape);
  StepAgain again(std::move(step));
  for (std::uint32_t i = 0; i < again.step_.instances.size(); ++i) {
    const Program::Instance& made = again.step_.instances[i];
    if (!made.loaded) continue;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Loaded& one) { return one.bytes == made.bytes; });
    if (same == all.end() || same->seconds != made.load_s) return {};
    again.loads_.emplace_back(i, static_cast<std::size_t>(same - all.begin()));
  }
  return again;
}

Program& StepAgain::priced(const StepShape& shape) {
  for (Program::Operation& operation : step_.operations)
    operation.seconds = seconds_of(operation, shape);
  const std::vector<Loaded> all = loaded_of(shape);
  for (const auto& [instance, tensor] : loads_)
    step_.instances[instance].load_s = all[tensor].seconds;
  return step_;
}

}  // namespace sluice
