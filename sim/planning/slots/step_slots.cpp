#include "planning/slots/step_slots.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace sluice {

StepSlots::StepSlots(PlanBuilder& builder, std::vector<SlotMemory> memories, Prologue prologue,
                     std::int64_t rest)
    : builder_(builder),
      by_slot_(memories.front().bytes.size()),
      count_of_step_(count() - rest),
      prologue_(prologue) {
  for (SlotMemory& memory : memories) {
    const std::vector<std::int64_t> of_step(memory.bytes.begin(), memory.bytes.end() - rest);
    LoadPlaces places(of_step, memory.capacity);
    memories_.push_back({std::move(memory), std::move(places)});
  }
}

StepSlots::Memory& StepSlots::memory(const std::string& device) {
  for (Memory& memory : memories_)
    if (memory.of.device == device) return memory;
  throw InternalError("no slots on device '" + device + "'");
}

void StepSlots::add(SlotLoad load) {
  if (load.once) {  // The tensor stays: every slot's bytes already include it.
    const std::int64_t at = load.earliest;
    loads_.push_back({std::move(load), at, {}, {}});
    return;
  }
  Memory& memory = this->memory(load.ends.to);
  const LoadPlace place = load.placed ? LoadPlace{load.earliest, load.after}
                                      : memory.places.add({.bytes = builder_.bytes_of(load.tensor),
                                                           .needed = load.slot,
                                                           .earliest = load.earliest,
                                                           .after = load.after,
                                                           .within = load.within});
  load.after = place.after;
  if (place.at < 0 && prologue_ == Prologue::by_need) first_goes_ahead_ = true;
  by_slot_[row_position(place.at, count_of_step_).index].push_back(loads_.size());
  loads_.push_back({std::move(load), place.at, {}, {}});
}

/// Returns whether the load is listed before the step that needs it: in the previous step, or only in the prologue if
/// the tensor stays. If `first_goes_ahead_` is set, this is also true for the loads whose place is directly before
/// slot 0: each is listed at the end of the previous step instead.
bool StepSlots::goes_ahead(const Placed& placed) const {
  return placed.at < 0 || placed.load.once || (placed.at == 0 && first_goes_ahead_);
}

PlanBuilder::Ref StepSlots::list_one(const SlotLoad& load, std::int32_t ahead) {
  const PlanBuilder::Ref ref =
      builder_.transfer(load.kind, load.tensor, load.ends, load.stage, load.micro_batch);
  builder_.at(ref).ahead = ahead;
  for (const std::uint32_t tensor : load.beside)
    builder_.at(ref).allocates.push_back({tensor, builder_.pool(load.ends.to)});
  return ref;
}

void StepSlots::list_prologue() {
  builder_.enter(Section::prologue);
  std::vector<Placed*> early;
  for (Placed& placed : loads_)
    if (goes_ahead(placed)) early.push_back(&placed);
  std::stable_sort(early.begin(), early.end(), [this](const Placed* a, const Placed* b) {
    return prologue_ == Prologue::by_need ? a->load.slot < b->load.slot : a->at < b->at;
  });
  for (Placed* placed : early) placed->prologue = list_one(placed->load, 0);
}

/// Lists the loads before `slot`: first those for this step, because they are needed sooner, and then those for the
/// next step.
void StepSlots::list_loads(std::int64_t slot) {
  for (const bool next_step : {false, true})
    for (const std::size_t number : by_slot_[static_cast<std::size_t>(slot)]) {
      Placed& placed = loads_[number];
      if (placed.at == 0 && first_goes_ahead_) continue;
      if (goes_ahead(placed) == next_step) placed.body = list_one(placed.load, next_step ? 1 : 0);
    }
}

void StepSlots::end_step() {
  list_first_of_next();
  builder_.enter(Section::epilogue);
}

void StepSlots::list_first_of_next() {
  if (!first_goes_ahead_) return;
  for (const std::size_t number : by_slot_.front())
    if (Placed& placed = loads_[number]; placed.at == 0) placed.body = list_one(placed.load, 1);
}

const SlotWork::Save& StepSlots::save(const SlotLoad::Saved& saved) const {
  return work_.at(static_cast<std::size_t>(saved.slot)).saves.at(saved.number);
}

void StepSlots::add_waits() {
  for (const Placed& placed : loads_) {
    const std::uint32_t ahead = goes_ahead(placed) ? 1 : 0;
    const SlotLoad& load = placed.load;
    const PlanBuilder::Ref user = work_[static_cast<std::size_t>(load.slot)].first;
    if (load.once) {
      builder_.wait(user, placed.prologue);
      continue;
    }
    const RowPosition after = row_position(load.after, count_of_step_);
    builder_.wait(placed.body, work_[after.index].last, after.steps_ago - ahead);
    if (load.with) {
      const RowPosition start = row_position(*load.with, count_of_step_);
      builder_.start_with(placed.body, work_[start.index].first, start.steps_ago - ahead);
    }
    for (const SlotLoad::Saved& saved : load.reloads) {
      const SlotWork::Save& source = save(saved);
      builder_.wait(placed.body, source.action);
      builder_.at(placed.body).uses.push_back({source.tensor, builder_.pool(load.ends.from)});
    }
    if (load.after_save.slot >= 0)
      builder_.wait(placed.body, save(load.after_save).action, load.after_save.steps_ago - ahead);
    builder_.wait(user, placed.body, ahead);
    builder_.wait(user, placed.prologue);
  }
}

std::int64_t StepSlots::early() const {
  return std::count_if(loads_.begin(), loads_.end(), [](const Placed& placed) {
    return !placed.load.once && placed.at < placed.load.slot;
  });
}

}  // namespace sluice
