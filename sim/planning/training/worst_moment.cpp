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

/// Adds the tensors that stay on this device.
void add_constants(ByClass& held, const Constants& constants, std::size_t device) {
  for (std::size_t s = device; s < constants.states.size(); s += constants.devices) {
    const StageState& state = constants.states[s];
    const StayingTensors stays = constants.all ? all_stay : state.stays;
    if (stays.weights) of_class(held, TensorClass::weight) += state.weights;
    if (stays.gradients) of_class(held, TensorClass::gradient) += state.gradients;
    if (stays.optimizer) of_class(held, TensorClass::optimizer) += state.optimizer;
  }
}

}  // namespace

WorstMoment worst_moment(const Program& step, std::size_t devices, const DeviceBytes& capacities) {
  WorstMoment worst;
  for (std::uint32_t d = 0; d < devices; ++d) {
    const std::vector<std::int64_t> levels = step.bytes(d);
    const auto most = std::max_element(levels.begin(), levels.end());
    if (d == 0 || *most - capacities[d] > worst.bytes - worst.capacity)
      worst = {d, *most, most - levels.begin(), capacities[d]};
  }
  return worst;
}

Shortage held_at(const WorstMoment& worst, const Program& step,
                 const std::vector<std::string>& pools, const Constants& constants) {
  ByClass held{};
  for (const Program::Instance& made : step.instances)
    if (made.device == worst.device && made.first <= worst.operation &&
        worst.operation <= made.last)
      of_class(held, made.tensor_class) += made.bytes;
  const Program::Operation& slot = step.operations[static_cast<std::size_t>(worst.operation)];
  if (slot.device == worst.device) of_class(held, TensorClass::workspace) += slot.workspace;
  add_constants(held, constants, worst.device);
  Shortage shortage{
      .pool = pools[worst.device], .needed_bytes = worst.bytes, .by_class = by_class(held)};
  if (worst.capacity < no_limit) shortage.available_bytes = worst.capacity;
  return shortage;
}

std::optional<Shortage> shortage_of_constants(const Constants& constants,
                                              const std::vector<std::string>& pools,
                                              const DeviceBytes& capacities) {
  const auto lacks = [&](std::size_t d) { return constants.bytes(d) - capacities[d]; };
  std::size_t device = 0;
  for (std::size_t d = 1; d < pools.size(); ++d)
    if (lacks(d) > lacks(device)) device = d;
  if (lacks(device) < 0) return {};
  ByClass held{};
  add_constants(held, constants, device);
  return Shortage{.pool = pools[device],
                  .needed_bytes = constants.bytes(device),
                  .available_bytes = capacities[device],
                  .by_class = by_class(held)};
}

std::int64_t Constants::bytes(std::size_t device) const {
  std::int64_t bytes = 0;
  for (std::size_t s = device; s < states.size(); s += devices) {
    const StageState& state = states[s];
    const StayingTensors stays = all ? all_stay : state.stays;
    for (const auto& [stay, part] :
         {std::pair(stays.weights, state.weights), std::pair(stays.gradients, state.gradients),
          std::pair(stays.optimizer, state.optimizer)})
      if (stay) bytes = checked_add(bytes, part, "bytes of training");
  }
  return bytes;
}

std::int64_t Constants::bytes_of_all() const {
  return Constants{states, all}.bytes(0);
}

std::int64_t Constants::least() const {
  std::int64_t least = bytes(0);
  for (std::size_t d = 1; d < devices; ++d) least = std::min(least, bytes(d));
  return least;
}

std::int64_t Constants::leave_of(std::int64_t bytes, std::size_t memories) const {
  const bool one_by_one = memories == devices;
  return bytes - (one_by_one ? static_cast<std::int64_t>(devices) * least() : bytes_of_all());
}

std::int64_t Constants::most() const {
  std::int64_t most = 0;
  for (std::size_t d = 0; d < devices; ++d) most = std::max(most, bytes(d));
  return most;
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
