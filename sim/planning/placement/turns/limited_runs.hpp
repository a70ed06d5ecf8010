// The runs of a plan within limits of two memories. If transfers of a plan share links, the plan may become slower when
// an action need not wait for memory any more: its transfer then slows down another transfer. So a plan may be faster
// within a limit than with a whole memory. fastest_within() compares limits that lead to different runs, the greatest
// first. If it compares all of them, more memory never makes the result slower, because all limits for less memory are
// among the limits for more memory. But the number of runs is limited, because all limits of a large plan would take too
// long. For plans with many actions, only the run without limits is simulated.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "plan/plan.hpp"

namespace sluice {

struct LimitedRun {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  using Limits = std::array<std::int64_t, 2>;

  double seconds = std::numeric_limits<double>::infinity();
  Limits limits = {
      none, none};  ///< the bytes of the two pools that the run may use; `none` means all bytes
};

/// Returns the fastest run of the plan in which each of these two pools stays within a limit. Runs that take `worth`
/// seconds or more are not needed: without a faster run, the seconds of the result are infinite or at least `worth`.
/// They are also infinite if the plan does not fit. If no transfers share links, only the run without limits is
/// simulated, because no limit makes it faster. The search ends when a run takes at most `enough` seconds.
LimitedRun fastest_within(const Plan& plan, const std::array<std::uint32_t, 2>& pools, double worth,
                          double enough = 0);

}  // namespace sluice
