#include "planning/levels.hpp"

#include <algorithm>

#include "base/quantity.hpp"

namespace sluice {

Levels::Levels(const std::vector<std::int64_t>& bytes) : count_(bytes.size()), slots_(bytes) {
  if (count_ > 0) build(all());
}

void Levels::build(const Range& range) {
  if (most_.size() <= range.node) {
    most_.resize(range.node + 1, 0);
    more_.resize(range.node + 1, 0);
  }
  if (range.is_row()) return update_row(range);
  build(range.left());
  build(range.right());
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
  if (range.is_row()) {
    std::int64_t* const begin = slots_.data() + std::max(first, range.first);
    std::int64_t* const end = slots_.data() + std::min(last, range.last) + 1;
    checked_add(*std::max_element(begin, end), bytes, "bytes in a slot");
    for (std::int64_t* slot = begin; slot != end; ++slot) *slot += bytes;
    return update_row(range);
  }
  if (first <= range.middle()) add(range.left(), first, last, bytes);
  if (last > range.middle()) add(range.right(), first, last, bytes);
  most = checked_add(std::max(most_[2 * range.node], most_[2 * range.node + 1]), more_[range.node],
                     "bytes in a slot");
}

void Levels::update_row(const Range& row) {
  const auto slot = [&](std::size_t at) {
    return slots_.begin() + static_cast<std::ptrdiff_t>(at);
  };
  most_[row.node] = checked_add(*std::max_element(slot(row.first), slot(row.last) + 1),
                                more_[row.node], "bytes in a slot");
}

std::optional<std::size_t> Levels::last_above(std::size_t first, std::size_t last,
                                              std::int64_t bytes) const {
  return last_above(all(), first, last, bytes);
}

std::optional<std::size_t> Levels::last_above(const Range& range, std::size_t first,
                                              std::size_t last, std::int64_t bytes) const {
  if (most_[range.node] <= bytes) return {};
  const std::int64_t left = bytes - more_[range.node];
  if (range.is_row()) {
    for (std::size_t s = std::min(last, range.last) + 1; s-- > std::max(first, range.first);)
      if (slots_[s] > left) return s;
    return {};
  }
  if (last > range.middle())
    if (const auto found = last_above(range.right(), first, last, left)) return found;
  return first <= range.middle() ? last_above(range.left(), first, last, left) : std::nullopt;
}

}  // namespace sluice
