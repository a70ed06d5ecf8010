// The position of an item in the row of items that all steps have in common.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// Every step has the same row of `count` items, for example slots. A position names an item by its index in the row,
/// and by how many steps ago the item's step was. For row_position(), a negative `index` counts back into earlier
/// steps: -1 is the last item of the previous step.
struct RowPosition {
  std::size_t index;
  std::uint32_t steps_ago;
};
inline RowPosition row_position(std::int64_t index, std::int64_t count) {
  const std::int64_t steps = index < 0 ? (-index + count - 1) / count : 0;
  return {static_cast<std::size_t>(index + steps * count), static_cast<std::uint32_t>(steps)};
}

}  // namespace sluice
