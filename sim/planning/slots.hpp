// Describes one step of a device as a row of slots. A slot is the computation of one micro-batch in one stage. The slot
// also has the loads that are listed before it, and the saves that are listed after it. If memory has room, a load may
// be listed before an earlier slot, even in the previous step. So a copy engine can work ahead. Early loads never delay
// grants of actions that are listed earlier.
//
// A plan from slots cannot end in a deadlock. Imagine the actions one at a time in listing order. add() lists a load
// only where memory has room. So the bytes always fit. Every action waits only for actions that are listed earlier. So
// the earliest action that has not ended can always get its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/load_places.hpp"

namespace sluice {

/// Every step repeats a row of `count` items. A position names an item by its index in the row, and by the number of
/// steps since its step. A negative `index` of row_position() is an item of an earlier step.
struct RowPosition {
  std::size_t index;
  std::uint32_t steps_ago;
};
RowPosition row_position(std::int64_t index, std::int64_t count);

/// A load that a slot needs.
struct SlotLoad {
  std::uint32_t tensor = none;
  PlanBuilder::TransferEnds ends;
  std::int32_t stage = -1, micro_batch = -1;
  std::int64_t slot = 0;  ///< the slot that needs the load
  /// The first slot before which the load may be listed. A negative slot belongs to the previous step.
  std::int64_t earliest = 0;
  /// The load may start when this slot has been computed. A negative slot belongs to an earlier step.
  std::int64_t after = 0;
  /// Whether the load may start one slot earlier than its place in the list, if memory allows. The place in the list
  /// stays. So the computation of the earlier slot does not wait for the copy engine.
  bool within = false;
  /// Whether the loaded tensor stays on the device. The load is then listed once, before the first step.
  bool once = false;
  /// The save with the index `number` among the saves of `slot`, in the step `steps_ago` steps ago.
  struct Saved {
    std::int64_t slot = -1;  ///< -1 if there is no save
    std::size_t number = 0;
    std::uint32_t steps_ago = 0;
  };
  Saved reloads = {};  ///< the load reads the copy that this save wrote, and frees the copy
  /// The load starts after this save. The copy that the save wrote stays.
  Saved after_save = {};
  ActionKind kind = ActionKind::load;
};

/// The memory of a device. `bytes[i]` is the most bytes in the memory while slot i runs alone.
/// These bytes include the loads that are listed in the slot.
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
  /// The order in which the prologue lists the early loads of the first step. `as_listed` is the order in which a
  /// previous step would list these loads. `by_need` is the order in which slots need the loads. With `by_need`, every
  /// step with early loads also lists the next step's loads before slot 0, as its last actions.
  enum class Prologue : std::uint8_t { as_listed, by_need };

  /// `memories` has one element per device that receives loads. All elements have equally many slots.
  StepSlots(PlanBuilder& builder, std::vector<SlotMemory> memories,
            Prologue prologue = Prologue::as_listed);

  std::int64_t count() const { return static_cast<std::int64_t>(by_slot_.size()); }

  /// Adds a load. The load is listed as early as possible: memory has room there, and all limits of the load are kept.
  void add(SlotLoad load);

  /// Lists all actions: early loads of the first step in the prologue, and then the body. In the
  /// body, `compute(slot)` lists the computation and the saves of a slot.
  template <class Compute>
  void list(Compute&& compute) {
    list_prologue();
    builder_.enter(Section::body);
    for (std::int64_t slot = 0; slot < count(); ++slot) {
      list_loads(slot);
      work_.push_back(compute(slot));
    }
    list_first_of_next();
    add_waits();
  }

  /// Returns the most bytes on a device in any slot, including early loads. With fewer bytes, a
  /// load would be listed later.
  std::int64_t most(const std::string& device) { return memory(device).places.most(); }

  /// Returns the number of early loads: loads that are listed in an earlier slot than their own.
  std::int64_t early() const;

 private:
  struct Placed {
    SlotLoad load;
    /// The slot before which the load is listed. A negative number is a slot of the previous step.
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
  void list_first_of_next();
  void add_waits();
  const SlotWork::Save& save(const SlotLoad::Saved& saved) const;
  PlanBuilder::Ref list_one(const SlotLoad& load, std::int32_t ahead);

  PlanBuilder& builder_;
  std::vector<Memory> memories_;
  std::vector<Placed> loads_;
  std::vector<std::vector<std::size_t>> by_slot_;
  std::vector<SlotWork> work_;
  Prologue prologue_;
  bool first_goes_ahead_ = false;
};

}  // namespace sluice
