#include "planning/placement/turns/limit_list.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace sluice {
namespace {

/// The first two digits of the limits, if the list has few limits. Memories often have one of these sizes.
constexpr std::array<std::int64_t, 27> first_digits = {10, 11, 12, 13, 14, 15, 16, 18, 20,
                                                       22, 24, 26, 28, 30, 32, 36, 40, 44,
                                                       48, 52, 56, 60, 64, 72, 80, 88, 96};

}  // namespace

std::int64_t listed_limit(std::int64_t bytes, LimitList list) {
  if (bytes == no_limit) return no_limit;
  std::int64_t unit = 1, digits = std::max<std::int64_t>(bytes, 0);
  for (const std::int64_t end = list == LimitList::few ? 100 : 1000; digits >= end; digits /= 10)
    unit *= 10;
  if (list == LimitList::few && digits >= first_digits.front())
    digits = *std::prev(std::ranges::upper_bound(first_digits, digits));
  return digits * unit;
}

}  // namespace sluice
