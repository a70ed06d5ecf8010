#include "planning/training/worst_moment.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/quantity.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/training.hpp"

namespace sluice {

namespace {

using ByClass = std::array<std::int64_t, tensor_class_count>;

std::int64_t& of_class(ByClass& held, TensorClass tensor_class) {
  return held[static_cast<std::size_t>(tensor_class)];
}

std::vector<std::pair<std::string, std::int64_t>> by_class(const ByClass& held) {
  std::vector<std::pair<std::string, std::int64_t>> classes;
  for (std::size_t c = 0; c < held.size(); ++c)
    if (held[c] > 0) classes.emplace_back(name_of(static_cast<TensorClass>(c)), held[c]);
  return classes;
}

void add_staying(ByClass& held, const StageState& state, bool all) {
  const StayingTensors stays = all ? all_stay : state.stays;
  if (stays.weights) of_class(held, TensorClass::weight) += state.weights;
  if (stays.gradients) of_class(held, TensorClass::gradient) += state.gradients;
  if (stays.optimizer) of_class(held, TensorClass::optimizer) += state.optimizer;
}

}  // namespace

WorstMoment worst_moment(const Program& step, std::size_t devices) {
  WorstMoment worst;
  for (std::uint32_t d = 0; d < devices; ++d) {
    const std::vector<std::int64_t> levels = step.bytes(d);
    const auto most = std::max_element(levels.begin(), levels.end());
    if (*most > worst.bytes) worst = {d, *most, most - levels.begin()};
  }
  return worst;
}

Shortage held_at(const WorstMoment& worst, const Program& step,
                 const std::vector<std::string>& devices, const StatesOfStages& stages) {
  ByClass held{};
  for (const Program::Instance& made : step.instances)
    if (made.device == worst.device && made.first <= worst.operation &&
        worst.operation <= made.last)
      of_class(held, made.tensor_class) += made.bytes;
  const Program::Operation& slot = step.operations[static_cast<std::size_t>(worst.operation)];
  if (slot.device == worst.device) of_class(held, TensorClass::workspace) += slot.workspace;
  for (std::size_t s = worst.device; s < stages.states.size(); s += devices.size())
    add_staying(held, stages.states[s], stages.all_stay);
  return {.pool = devices[worst.device], .needed_bytes = worst.bytes, .by_class = by_class(held)};
}

Shortage shortage_of_constants(const StatesOfStages& stages, const std::string& pool,
                               std::int64_t capacity) {
  ByClass held{};
  for (const StageState& state : stages.states) add_staying(held, state, stages.all_stay);
  return {.pool = pool,
          .needed_bytes = constant_bytes(stages.states, stages.all_stay),
          .available_bytes = capacity,
          .by_class = by_class(held)};
}

std::int64_t constant_bytes(const std::vector<StageState>& states, bool all) {
  std::int64_t bytes = 0;
  for (const StageState& state : states) {
    const StayingTensors stays = all ? all_stay : state.stays;
    for (const auto& [stay, part] :
         {std::pair(stays.weights, state.weights), std::pair(stays.gradients, state.gradients),
          std::pair(stays.optimizer, state.optimizer)})
      if (stay) bytes = checked_add(bytes, part, "bytes of training");
  }
  return bytes;
}

std::string advice_to_need_less(const PolicyRequest& request, const TrainingOrder& order) {
  std::string text = "to need less memory, use fates that keep fewer activations, ";
  if (request.workload.micro_batch > 1) text += "a smaller micro_batch, ";
  if (order.weights_stay) text += "policy streamed, ";
  if (smallest_device(request.pricing.platform, order.devices).memories.size() > 1)
    text += "policy.placement=static of policy resident, ";
  return text + "or smaller stages";
}

}  // namespace sluice
