// The runs of a plan within limits of the memories of its devices. If transfers of a plan share links, the plan may
// become slower when an action need not wait for memory any more: its transfer then slows down another transfer. Two
// devices may also have a memory in common. There, an action that need not wait may take the bytes for which a more
// urgent action waits. So a plan may be faster within limits than with whole memories. fastest_within() compares limits
// that lead to different runs, the greatest first. If it compares all of them, more memory never makes the result slower,
// because all limits for less memory are among the limits for more memory. But the number of runs is limited, because
// all limits of a large plan may take too long.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

struct LimitedRun {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  using Limits = std::vector<std::int64_t>;

  double seconds = std::numeric_limits<double>::infinity();
  /// For each of the pools, the bytes that the run may use. `none` means all bytes.
  Limits limits;
};

/// Returns the fastest run of the plan in which each of these pools stays within a limit. Runs that take `worth`
/// seconds or more are not needed: without a faster run, the seconds of the result are infinite or at least `worth`.
/// They are also infinite if the plan does not fit. If no transfers share links, and one device owns each pool, only
/// the run without limits is simulated, because no limit makes it faster. The search ends when a run takes at most
/// `enough` seconds.
LimitedRun fastest_within(const Plan& plan, const std::vector<std::uint32_t>& pools, double worth,
                          double enough = 0);

}  // namespace sluice
