#include "policy/slots.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace sluice {

InRow in_row(std::int64_t index, std::int64_t count) {
  const std::int64_t steps = index < 0 ? (-index + count - 1) / count : 0;
  return {static_cast<std::size_t>(index + steps * count), static_cast<std::uint32_t>(steps)};
}

Slots::Slots(PlanBuilder& builder, std::vector<SlotMemory> memories)
    : builder_(builder), memories_(std::move(memories)), by_slot_(memories_.front().bytes.size()) {}

SlotMemory& Slots::memory(const std::string& device) {
  for (SlotMemory& memory : memories_)
    if (memory.device == device) return memory;
  throw InternalError("no slots on device '" + device + "'");
}

void Slots::add(SlotLoad load) {
  SlotMemory& memory = this->memory(load.ends.to);
  const auto level = [&](std::int64_t slot) -> std::int64_t& {
    return memory.bytes[in_row(slot, count()).place];
  };
  const std::int64_t bytes = builder_.bytes_of(load.tensor);
  const auto room = [&](std::int64_t slot) {
    return !memory.capacity || level(slot) + bytes <= *memory.capacity;
  };
  const std::int64_t earliest = std::max(load.earliest, -count());
  std::int64_t at = load.slot;
  while (at > earliest && room(at - 1)) {  // beyond a whole step it meets itself
    --at;
    level(at) = checked_add(level(at), bytes, "bytes in a slot");
  }
  if (load.within && at > 1 - count() && room(at - 1)) {
    level(at - 1) = checked_add(level(at - 1), bytes, "bytes in a slot");
    load.after = std::min(load.after, at - 2);
  }
  by_slot_[in_row(at, count()).place].push_back(loads_.size());
  loads_.push_back({std::move(load), at, {}, {}});
}

PlanBuilder::Ref Slots::list_one(const SlotLoad& load, std::int32_t ahead) {
  const PlanBuilder::Ref ref =
      builder_.transfer(ActionKind::load, load.tensor, load.ends, load.stage, load.micro_batch);
  builder_.at(ref).ahead = ahead;
  return ref;
}

/// In the order in which the first step needs them: nothing is saved before they come.
void Slots::list_prologue() {
  builder_.enter(Section::prologue);
  std::vector<Placed*> early;
  for (Placed& placed : loads_)
    if (placed.at < 0) early.push_back(&placed);
  std::stable_sort(early.begin(), early.end(),
                   [](const Placed* a, const Placed* b) { return a->load.slot < b->load.slot; });
  for (Placed* placed : early) placed->prologue = list_one(placed->load, 0);
}

/// Those of this step before those of the next: they are needed sooner.
void Slots::list_loads(std::int64_t slot) {
  for (const bool next_step : {false, true})
    for (std::size_t number : by_slot_[static_cast<std::size_t>(slot)]) {
      Placed& placed = loads_[number];
      if ((placed.at < 0) == next_step) placed.body = list_one(placed.load, next_step ? 1 : 0);
    }
}

const SlotWork::Save& Slots::save(const SlotLoad::Saved& saved) const {
  return work_.at(static_cast<std::size_t>(saved.slot)).saves.at(saved.number);
}

void Slots::add_waits() {
  for (const Placed& placed : loads_) {
    const std::uint32_t ahead = placed.at < 0 ? 1 : 0;
    const SlotLoad& load = placed.load;
    const InRow after = in_row(load.after, count());
    builder_.wait(placed.body, work_[after.place].last, after.steps_ago - ahead);
    if (load.reloads.slot >= 0) {
      const SlotWork::Save& source = save(load.reloads);
      builder_.wait(placed.body, source.action);
      builder_.at(placed.body).uses.push_back({source.tensor, builder_.pool(load.ends.from)});
    }
    if (load.after_save.slot >= 0)
      builder_.wait(placed.body, save(load.after_save).action, load.after_save.steps_ago - ahead);
    const PlanBuilder::Ref user = work_[static_cast<std::size_t>(load.slot)].first;
    builder_.wait(user, placed.body, ahead);
    builder_.wait(user, placed.prologue);
  }
}

std::int64_t Slots::early() const {
  return std::count_if(loads_.begin(), loads_.end(),
                       [](const Placed& placed) { return placed.at < placed.load.slot; });
}

}  // namespace sluice
