// Counts the bytes in a memory during each slot of a row of slots (slots.hpp). A step may have many slots. So the
// counts are in a tree. With n slots, add() and last_above() take a time of about log(n). The functions throw
// InputError if a count exceeds 2^63.
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

  /// Returns the last slot from `first` to `last` in which memory holds more than `bytes`. Returns nothing if there
  /// is none.
  std::optional<std::size_t> last_above(std::size_t first, std::size_t last,
                                        std::int64_t bytes) const;

 private:
  struct Range {
    std::size_t node, first, last;
    std::size_t middle() const { return first + (last - first) / 2; }
    Range left() const { return {2 * node, first, middle()}; }
    Range right() const { return {2 * node + 1, middle() + 1, last}; }
  };
  Range all() const { return {1, 0, count_ - 1}; }
  void build(const Range& range, const std::vector<std::int64_t>& bytes);
  /// Adds the bytes to those slots from `first` to `last` that lie in this range of the tree.
  void add(const Range& range, std::size_t first, std::size_t last, std::int64_t bytes);
  std::optional<std::size_t> last_above(const Range& range, std::size_t first, std::size_t last,
                                        std::int64_t bytes) const;

  std::size_t count_;
  /// For each tree node, the most bytes in one of its slots. The bytes in `more_` of the nodes above are not included.
  std::vector<std::int64_t> most_;
  /// For each tree node, bytes that are in each of its slots. Its children do not count these bytes again.
  std::vector<std::int64_t> more_;
};

}  // namespace sluice
