// The runs of a plan within limits of the memories of its devices. If transfers of a plan share links, the plan may
// become slower when an action need not wait for memory any more: its transfer then slows down another transfer. Two
// devices may also have a memory in common. There, an action that need not wait may take the bytes for which a more
// urgent action waits. So a plan may be faster within limits than with whole memories. fastest_within() compares limits
// that lead to different runs, the greatest first. If it compares all of them, more memory never makes the result
// slower, because all limits for less memory are among the limits for more memory. But the number of runs is limited,
// because all limits of a large plan may take too long. docs/placement.md says how often more memory then makes a run
// slower, and why the limits do not depend on the plan alone.
//
// A run that takes too long is not simulated to its end (least_rest.hpp). Within all smaller limits that leave room for
// the bytes that it has reserved until then, the run is the same until then, and takes too long, too.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

struct LimitedRun {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  using Limits = std::vector<std::int64_t>;

  double seconds = std::numeric_limits<double>::infinity();
  /// For each of the pools, the bytes that the run may use. `none` means all bytes.
  Limits limits;
  /// A lower bound of the seconds of all runs of the plan within limits, also if the pools had less bytes.
  double at_least = 0;
};

/// Which runs are wanted.
struct RunsWanted {
  /// Runs that take these seconds or more are not needed.
  double worth = std::numeric_limits<double>::infinity();
  double enough = 0;  ///< the search ends when a run takes at most these seconds
  /// Whether the plan is a plan of training. Then fewer limits are compared.
  bool training = false;
};

/// Returns the fastest run of the plan in which each of these pools stays within a limit. If no run takes less than
/// RunsWanted::worth seconds, the seconds of the result are infinite or at least `worth`. They are also infinite if the
/// plan does not fit. If no transfers share links, and one device owns each pool, only the run without limits is
/// simulated, because no limit makes it faster.
LimitedRun fastest_within(const Plan& plan, const std::vector<std::uint32_t>& pools,
                          const RunsWanted& wanted = {});

/// Gives the pools of the plan the limits of this run. Returns a text that says so, or "" if the run has no limits.
std::string keep_within(const LimitedRun& run, Plan& plan, const std::vector<std::uint32_t>& pools);

}  // namespace sluice
