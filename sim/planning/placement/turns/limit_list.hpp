// The limits of memory within which placed plans are compared (limited_runs.hpp). The list is the same for all memories.
#pragma once

#include <cstdint>
#include <limits>

namespace sluice {

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// How many limits the list has. With many limits, every number of bytes with at most three digits before its zeros is a
/// limit. So two limits differ by at most 1 %. With few limits, they differ by about 9 %.
enum class LimitList : std::uint8_t { few, many };

/// Returns the greatest limit of the list that is at most `bytes`. Returns `no_limit` for `no_limit`, and 0 for negative
/// numbers.
std::int64_t listed_limit(std::int64_t bytes, LimitList list);

}  // namespace sluice
