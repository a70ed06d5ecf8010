// Counts the bytes in a memory during each slot of a step (step_slots.hpp). A step may have many slots, so there is a
// tree, whose leaves are short rows of slots. For n slots, add() and last_above() visit about log(n) nodes of the tree,
// and the slots of one or two rows. The functions throw InputError if a count does not fit into 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

class Levels {
 public:
  explicit Levels(const std::vector<std::int64_t>& bytes);

  /// Returns the greatest number of bytes in any slot.
  std::int64_t most() const { return count_ > 0 ? most_[1] : 0; }

  /// Adds bytes to the slots `first` to `last`, both included.
  void add(std::size_t first, std::size_t last, std::int64_t bytes);

  /// Looks at the slots from `first` to `last`. Returns the last of them in which the memory holds more than `bytes`
  /// bytes. Returns nothing if there is no such slot.
  std::optional<std::size_t> last_above(std::size_t first, std::size_t last,
                                        std::int64_t bytes) const;

 private:
  struct Range {
    std::size_t node, first, last;
    std::size_t middle() const { return first + (last - first) / 2; }
    Range left() const { return {2 * node, first, middle()}; }
    Range right() const { return {2 * node + 1, middle() + 1, last}; }
    bool is_row() const { return last - first < 32; }
  };
  Range all() const { return {1, 0, count_ - 1}; }
  void build(const Range& range);
  /// Adds the bytes to the slots from `first` to `last`, as far as they are in this range of slots.
  void add(const Range& range, std::size_t first, std::size_t last, std::int64_t bytes);
  std::optional<std::size_t> last_above(const Range& range, std::size_t first, std::size_t last,
                                        std::int64_t bytes) const;

  void update_row(const Range& row);

  std::size_t count_;
  /// The bytes in each slot, without the bytes that `more_` adds to the slot. They are in `more_` of the tree's leaf
  /// that contains the slot, and of the nodes above this leaf.
  std::vector<std::int64_t> slots_;
  /// For each node of the tree: the largest number of bytes in any of its slots. The bytes in `more_` of the nodes
  /// above it are not included.
  std::vector<std::int64_t> most_;
  /// For each node of the tree: a number of bytes that is added to each of its slots. The nodes below it, and `slots_`,
  /// do not count these bytes.
  std::vector<std::int64_t> more_;
};

}  // namespace sluice
