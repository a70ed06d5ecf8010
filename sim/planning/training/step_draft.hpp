// A training step while it is made: its slots in order, and the instances that they load, make, use
// and save. Internal to make_step().
#pragma once

#include <string>
#include <utility>

#include "planning/training/step.hpp"

namespace sluice {

/// "inner.3.1": of a stage, and of a micro-batch unless that is -1.
std::string instance_name(const std::string& what, std::size_t stage, std::int64_t micro_batch);

class StepDraft {
 public:
  explicit StepDraft(std::uint32_t devices) : devices_(devices) {}

  /// The device of this phase: they take turns.
  std::uint32_t device() const { return static_cast<std::uint32_t>(phase_ % devices_); }
  void end_phase() { ++phase_; }

  /// A slot of this phase. It is the next one of the step, and added when it is complete.
  Step::Slot slot(ActionKind kind, std::size_t stage) const;
  void add(Step::Slot slot) { step.slots.push_back(std::move(slot)); }
  std::int64_t next() const { return static_cast<std::int64_t>(step.slots.size()); }

  /// An instance on the device of this phase, from the next slot on.
  std::uint32_t make(const std::string& name, TensorClass tensor_class, std::int64_t bytes,
                     std::size_t stage, std::int64_t micro_batch);
  /// A load brings it: from its home, or from what the save of `copy_of` left.
  void bring(std::uint32_t instance, double load_s, Step::Home home, std::uint32_t copy_of = none);
  void use(Step::Slot& slot, std::uint32_t instance);
  /// Saves it after a slot that has been added.
  void save_after(std::uint32_t instance, std::int64_t slot);

  Step::Instance& operator[](std::uint32_t instance) { return step.instances[instance]; }

  Step step;

 private:
  std::uint32_t devices_;
  std::int64_t phase_ = 0;
};

}  // namespace sluice
