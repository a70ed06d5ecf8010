#include "planning/training/step_draft.hpp"

#include <algorithm>

namespace sluice {

std::string instance_name(const std::string& what, std::size_t stage, std::int64_t micro_batch) {
  return what + "." + std::to_string(stage) +
         (micro_batch < 0 ? "" : "." + std::to_string(micro_batch));
}

Step::Slot StepDraft::slot(ActionKind kind, std::size_t stage) const {
  Step::Slot slot;
  slot.kind = kind;
  slot.stage = static_cast<std::int32_t>(stage);
  slot.device = device();
  slot.phase = phase_;
  return slot;
}

std::uint32_t StepDraft::make(const std::string& name, TensorClass tensor_class, std::int64_t bytes,
                              std::size_t stage, std::int64_t micro_batch) {
  Step::Instance instance;
  instance.name = name;
  instance.tensor_class = tensor_class;
  instance.bytes = bytes;
  instance.stage = static_cast<std::int32_t>(stage);
  instance.micro_batch = static_cast<std::int32_t>(micro_batch);
  instance.device = device();
  instance.first = next();
  instance.last = -1;
  step.instances.push_back(std::move(instance));
  return static_cast<std::uint32_t>(step.instances.size() - 1);
}

void StepDraft::bring(std::uint32_t instance, double load_s, Step::Home home,
                      std::uint32_t copy_of) {
  Step::Instance& brought = step.instances[instance];
  brought.loaded = true;
  brought.load_s = load_s;
  brought.home = home;
  brought.copy_of = copy_of;
}

void StepDraft::use(Step::Slot& slot, std::uint32_t instance) {
  slot.uses.push_back(instance);
  step.instances[instance].last = next();
}

void StepDraft::save_after(std::uint32_t instance, std::int64_t slot) {
  Step::Instance& saved = step.instances[instance];
  saved.saved_at = slot;
  saved.last = std::max(saved.last, slot);
  auto& saves = step.slots[static_cast<std::size_t>(slot)].saves;
  saved.saves = static_cast<std::uint32_t>(saves.size());
  saves.push_back(instance);
}

}  // namespace sluice
