// Describes one step of a device as a row of slots. A slot is the computation of one micro-batch in one stage, with the
// loads that are listed before the computation, and the saves that are listed after it. If memory has room, a load may
// be listed before an earlier slot, even in the previous step. So a copy engine can work ahead. If an action is listed
// before an early load, it never waits longer for memory because of this load.
//
// A plan from slots cannot end in a deadlock. Suppose that the actions run one at a time, in listing order. add() lists
// a load only where memory has room, so each action gets its bytes. Besides, every action waits only for actions that
// are listed before it. So of all actions that have not yet ended, the first in the listing can always run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/slots/load_places.hpp"
#include "planning/slots/row_position.hpp"

namespace sluice {

/// A load whose tensor a slot needs.
struct SlotLoad {
  std::uint32_t tensor = none;
  PlanBuilder::TransferEnds ends;
  std::int32_t stage = -1, micro_batch = -1;
  std::int64_t slot = 0;  ///< the slot that needs the load
  /// The first slot before which the load may be listed. A negative slot belongs to the previous step.
  std::int64_t earliest = 0;
  /// The load may start when this slot has been computed. A negative slot belongs to an earlier step.
  std::int64_t after = 0;
  /// If given, the load may not start before the computation of this slot may start. A negative slot belongs to an
  /// earlier step.
  std::optional<std::int64_t> with = {};
  /// Whether the load may start one slot earlier than its place in the list says, if memory has room. The load is still
  /// listed behind the computation of that earlier slot, so the computation does not wait for the load.
  bool within = false;
  /// Whether the slot `earliest` is also the last slot before which the load may be listed. Then memory must have room
  /// for it.
  bool placed = false;
  /// Whether the loaded tensor stays on the device. If so, the load is listed only once, before the first step.
  bool once = false;
  /// Only with `once`: tensors that get their memory together with the loaded tensor, and stay as long.
  std::vector<std::uint32_t> beside = {};
  /// A save: of the saves of `slot`, the one with the index `number`. It belongs to the step `steps_ago` steps ago.
  struct Saved {
    std::int64_t slot = -1;  ///< -1 if there is no save
    std::size_t number = 0;
    std::uint32_t steps_ago = 0;
  };
  /// The load reads the copies that these saves wrote. The last load that reads a copy frees it.
  std::vector<Saved> reloads = {};
  /// The load starts after this save, but does not free the copy that the save wrote.
  Saved after_save = {};
  ActionKind kind = ActionKind::load;
};

/// The memory of a device. `bytes[i]` is the most bytes that the memory holds in slot i if no early loads are there.
/// The bytes of the slot's own loads are included.
struct SlotMemory {
  std::string device;
  std::vector<std::int64_t> bytes;
  std::optional<std::int64_t> capacity;
};

/// The actions that are listed in a slot.
struct SlotWork {
  PlanBuilder::Ref first, last;  ///< the first and the last computation of the slot
  struct Save {
    PlanBuilder::Ref action;
    std::uint32_t tensor = none;
  };
  std::vector<Save> saves = {};  ///< the saves whose tensors may be loaded again
};

class StepSlots {
 public:
  /// The order in which the prologue lists the early loads of the first step. `as_listed`: as a previous step would
  /// list these loads. `by_need`: in the order in which the slots need the loads. `by_need` may also move the loads
  /// whose place is directly before slot 0. If any other load is listed in the step before the step that needs it,
  /// these loads move to the end of the previous step.
  enum class Prologue : std::uint8_t { as_listed, by_need };

  /// `memories` has one element for each device that loads come to. All elements have equally many slots. The last
  /// `rest` slots are listed in the epilogue. Their loads have SlotLoad::placed.
  StepSlots(PlanBuilder& builder, std::vector<SlotMemory> memories,
            Prologue prologue = Prologue::as_listed, std::int64_t rest = 0);

  std::int64_t count() const { return static_cast<std::int64_t>(by_slot_.size()); }

  /// Adds a load. Without SlotLoad::placed and SlotLoad::once, the load is listed in the earliest place in which memory
  /// has room. This place is never before the slot SlotLoad::earliest. The load starts only when the slot
  /// SlotLoad::after has been computed, or with SlotLoad::within up to one slot earlier.
  void add(SlotLoad load);

  /// Lists all actions of the plan: the early loads of the first step in the prologue, a step in the body, and the rest
  /// in the epilogue. `compute(slot)` is called for each slot, and lists its computation and its saves.
  template <class Compute>
  void list(Compute&& compute) {
    list_prologue();
    builder_.enter(Section::body);
    for (std::int64_t slot = 0; slot < count(); ++slot) {
      if (slot == count_of_step_) end_step();
      list_loads(slot);
      work_.push_back(compute(slot));
    }
    if (count() == count_of_step_) end_step();
    add_waits();
  }

  /// Returns the most bytes that the device holds in any slot, with early loads. With less memory, at least one load
  /// would be listed later.
  std::int64_t most(const std::string& device) { return memory(device).places.most(); }

  /// Returns the number of early loads: an early load is listed before an earlier slot than the one that needs it.
  std::int64_t early() const;

 private:
  struct Placed {
    SlotLoad load;
    /// The slot before which the load is listed. A negative number stands for a slot of the previous step.
    std::int64_t at = 0;
    PlanBuilder::Ref body, prologue;
  };
  struct Memory {
    SlotMemory of;
    LoadPlaces places;
  };
  Memory& memory(const std::string& device);
  bool goes_ahead(const Placed& placed) const;
  void list_prologue();
  void list_loads(std::int64_t slot);
  void end_step();
  void list_first_of_next();
  void add_waits();
  const SlotWork::Save& save(const SlotLoad::Saved& saved) const;
  PlanBuilder::Ref list_one(const SlotLoad& load, std::int32_t ahead);

  PlanBuilder& builder_;
  std::vector<Memory> memories_;
  std::vector<Placed> loads_;
  std::vector<std::vector<std::size_t>> by_slot_;
  std::int64_t count_of_step_;  ///< the number of slots without the rest
  std::vector<SlotWork> work_;
  Prologue prologue_;
  bool first_goes_ahead_ = false;
};

}  // namespace sluice
