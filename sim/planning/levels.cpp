#include "planning/levels.hpp"

#include <algorithm>

#include "base/quantity.hpp"

namespace sluice {

Levels::Levels(const std::vector<std::int64_t>& bytes)
    : count_(bytes.size()), most_(4 * bytes.size(), 0), more_(4 * bytes.size(), 0) {
  if (count_ > 0) build(all(), bytes);
}

void Levels::build(const Range& range, const std::vector<std::int64_t>& bytes) {
  if (range.first == range.last) {
    most_[range.node] = bytes[range.first];
    return;
  }
  build(range.left(), bytes);
  build(range.right(), bytes);
  most_[range.node] = std::max(most_[2 * range.node], most_[2 * range.node + 1]);
}

void Levels::add(std::size_t first, std::size_t last, std::int64_t bytes) {
  add(all(), first, last, bytes);
}

void Levels::add(const Range& range, std::size_t first, std::size_t last, std::int64_t bytes) {
  std::int64_t& most = most_[range.node];
  if (first <= range.first && range.last <= last) {
    most = checked_add(most, bytes, "bytes in a slot");
    more_[range.node] += bytes;
    return;
  }
  if (first <= range.middle()) add(range.left(), first, last, bytes);
  if (last > range.middle()) add(range.right(), first, last, bytes);
  most = checked_add(std::max(most_[2 * range.node], most_[2 * range.node + 1]), more_[range.node],
                     "bytes in a slot");
}

std::optional<std::size_t> Levels::last_above(std::size_t first, std::size_t last,
                                              std::int64_t bytes) const {
  return last_above(all(), first, last, bytes);
}

std::optional<std::size_t> Levels::last_above(const Range& range, std::size_t first,
                                              std::size_t last, std::int64_t bytes) const {
  if (most_[range.node] <= bytes) return {};
  if (range.first == range.last) return range.first;
  const std::int64_t left = bytes - more_[range.node];
  if (last > range.middle())
    if (const auto found = last_above(range.right(), first, last, left)) return found;
  return first <= range.middle() ? last_above(range.left(), first, last, left) : std::nullopt;
}

}  // namespace sluice
