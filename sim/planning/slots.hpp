// One step of a device as a row of slots. A slot is the computation of one micro-batch in one stage, with the loads
// that are listed before it and the saves that are listed after it. A load may be listed before an earlier slot than
// the one that needs it, even in the previous step, as long as memory has room. So a copy engine works ahead and never
// blocks grants that are listed earlier.
//
// A plan made here cannot block. Executed one action at a time in listing order, the plan fits into memory at every
// moment (add() ensures this), and every wait refers to an action that is listed earlier. So a pool that grants in
// listing order can always serve the earliest action that has not ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/load_places.hpp"

namespace sluice {

/// The position of an item in steps that each repeat a row of `count` items. The position holds the place in the row,
/// and how many steps ago that step was. The `index` of an item of an earlier step is negative.
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
  std::int64_t slot = 0;  ///< the slot that needs it
  /// The first slot before which the load may be listed. A negative slot belongs to the previous step.
  std::int64_t earliest = 0;
  /// The load may start when this slot has been computed. A negative slot belongs to an earlier step.
  std::int64_t after = 0;
  /// If memory allows, the load may start one slot earlier than its place in the list. Pools grant
  /// in listing order, so no computation waits for it while it waits for the copy engine.
  bool within = false;
  /// If true, what the load brings stays on the device, so the load is listed once, before the first step.
  bool once = false;
  /// A save: the one with this `number` among the saves that `slot` lists in the step `steps_ago` steps earlier.
  struct Saved {
    std::int64_t slot = -1;  ///< none
    std::size_t number = 0;
    std::uint32_t steps_ago = 0;
  };
  Saved reloads = {};     ///< loads what that save wrote, and frees that copy
  Saved after_save = {};  ///< starts after that save, and keeps that copy
  ActionKind kind = ActionKind::load;
};

/// The memory of a device. For each slot, `bytes` is the most that the memory holds while this slot runs alone,
/// including the loads that are listed in the slot.
struct SlotMemory {
  std::string device;
  std::vector<std::int64_t> bytes;
  std::optional<std::int64_t> capacity;
};

/// The actions that are listed in a slot.
struct SlotWork {
  PlanBuilder::Ref first, last;  ///< first and last computation
  struct Save {
    PlanBuilder::Ref action;
    std::uint32_t tensor = none;
  };
  std::vector<Save> saves = {};  ///< saves whose tensors may be loaded again
};

class StepSlots {
 public:
  /// The order of those loads in the prologue that the first step needs early. With `as_listed`, it is the order in
  /// which a previous step would list them; with `by_need`, the order in which they are needed. With `by_need`, the
  /// first load of a step is listed in the previous step as soon as any load is.
  enum class Prologue : std::uint8_t { as_listed, by_need };

  /// One memory per device that receives loads, each with the same number of slots.
  StepSlots(PlanBuilder& builder, std::vector<SlotMemory> memories,
            Prologue prologue = Prologue::as_listed);

  std::int64_t count() const { return static_cast<std::int64_t>(by_slot_.size()); }

  /// Registers a load; it is placed as early as it may come and as memory has room for it.
  void add(SlotLoad load);

  /// Lists everything: early loads of the first step in the prologue, and then the body. There, `compute(slot)` lists
  /// the computation of a slot and its save.
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

  /// The greatest number of bytes in any slot of a device, including loads that come early. With this many bytes, no
  /// load needs to be listed later.
  std::int64_t most(const std::string& device) { return memory(device).places.most(); }

  /// The number of loads that are listed before the slot that needs them.
  std::int64_t early() const;

 private:
  struct Placed {
    SlotLoad load;
    std::int64_t at = 0;  ///< slot before which it is listed; negative in the previous step
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
