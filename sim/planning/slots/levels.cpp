#include "planning/slots/levels.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "base/quantity.hpp"

namespace sluice {

namespace {

/// Returns checked_add() of two numbers of bytes. Calls it only to report an error, because this is done very often.
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (a >= 0 && b >= 0 && !__builtin_add_overflow(a, b, &sum)) return sum;
  return checked_add(a, b, "bytes in a slot");
}

/// Adds bytes to the slots of the row from `begin` to `end` - 1. Returns the greatest number of the row after that.
std::int64_t most_after(std::span<std::int64_t> row, std::size_t begin, std::size_t end,
                        std::int64_t bytes) {
  std::int64_t changed = row[begin], others = std::numeric_limits<std::int64_t>::min();
  for (std::size_t s = 0; s < begin; ++s) others = std::max(others, row[s]);
  for (std::size_t s = end; s < row.size(); ++s) others = std::max(others, row[s]);
  for (std::size_t s = begin; s < end; ++s) changed = std::max(changed, row[s]);
  changed = sum_of(changed, bytes);
  for (std::size_t s = begin; s < end; ++s) row[s] += bytes;
  return std::max(changed, others);
}

}  // namespace

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
    most = sum_of(most, bytes);
    more_[range.node] += bytes;
    return;
  }
  if (range.is_row()) {
    const std::span<std::int64_t> row(slots_.data() + range.first, range.last - range.first + 1);
    const std::size_t begin = std::max(first, range.first) - range.first;
    const std::size_t end = std::min(last, range.last) - range.first + 1;
    most = sum_of(most_after(row, begin, end, bytes), more_[range.node]);
    return;
  }
  if (first <= range.middle()) add(range.left(), first, last, bytes);
  if (last > range.middle()) add(range.right(), first, last, bytes);
  most = sum_of(std::max(most_[2 * range.node], most_[2 * range.node + 1]), more_[range.node]);
}

void Levels::update_row(const Range& row) {
  const auto slot = [&](std::size_t at) {
    return slots_.begin() + static_cast<std::ptrdiff_t>(at);
  };
  most_[row.node] = sum_of(*std::max_element(slot(row.first), slot(row.last) + 1), more_[row.node]);
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
