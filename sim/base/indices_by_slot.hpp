// Lists of indices, one list for each slot of a row of slots. For example: the indices of the loads that are listed
// before each slot.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

/// All lists together are stored in one vector, so that a row of many slots needs a single allocation.
class IndicesBySlot {
 public:
  /// The indices are 0 to `numbers` - 1. `slot_of(i)` returns the slot whose list contains the index i. The indices in
  /// a list ascend.
  template <typename SlotOf>
  IndicesBySlot(std::size_t slots, std::size_t numbers, const SlotOf& slot_of)
      : slots_(slots), stored_(slots + 1 + numbers, 0) {
    std::size_t* const begins = stored_.data();
    std::size_t* const lists = begins + slots + 1;
    for (std::size_t i = 0; i < numbers; ++i) ++begins[slot_of(i)];
    for (std::size_t k = 1; k <= slots; ++k) begins[k] += begins[k - 1];
    for (std::size_t i = numbers; i-- > 0;) lists[--begins[slot_of(i)]] = i;
  }

  std::size_t slots() const { return slots_; }

  std::span<const std::size_t> operator[](std::size_t slot) const {
    const std::size_t* const lists = stored_.data() + slots_ + 1;
    return {lists + stored_[slot], lists + stored_[slot + 1]};
  }

 private:
  std::size_t slots_;
  /// For each slot, where its list begins; then where the last list ends; then all lists.
  std::vector<std::size_t> stored_;
};

}  // namespace sluice
