// Lists of indices, one list for each slot of a row of slots. For example: the indices of the loads that are listed
// before each slot.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

/// All lists together are stored in two vectors, so that a row of many slots needs few allocations.
class IndicesBySlot {
 public:
  /// The indices are 0 to `numbers` - 1. `slot_of(i)` returns the slot whose list contains the index i. The indices in
  /// a list ascend.
  template <typename SlotOf>
  IndicesBySlot(std::size_t slots, std::size_t numbers, const SlotOf& slot_of)
      : begins_(slots + 1, 0), numbers_(numbers) {
    for (std::size_t i = 0; i < numbers; ++i) ++begins_[slot_of(i)];
    for (std::size_t k = 1; k <= slots; ++k) begins_[k] += begins_[k - 1];
    for (std::size_t i = numbers; i-- > 0;) numbers_[--begins_[slot_of(i)]] = i;
  }

  std::size_t slots() const { return begins_.size() - 1; }

  std::span<const std::size_t> operator[](std::size_t slot) const {
    return {numbers_.data() + begins_[slot], numbers_.data() + begins_[slot + 1]};
  }

 private:
  std::vector<std::size_t> begins_, numbers_;
};

}  // namespace sluice
