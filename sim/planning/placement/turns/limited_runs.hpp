// The runs of a plan within limits of the memories of its devices. If transfers of a plan share links, the plan may
// become slower when an action need not wait for memory any more: its transfer then slows down another transfer. Two
// devices may also have a memory in common, and host memory may be full. There, an action that need not wait may take
// the bytes for which a more urgent action waits. So with more memory, such a plan may be slower, and it never runs with
// whatever memory there is. Instead, fastest_within() compares four kinds of runs:
// - The run within limits that the plan itself has, if it has one for each memory that it uses.
// - The runs within the limits of a list (limit_list.hpp). Such a run is the same in every memory that has room for it.
// - The run of the plan with transfers that go one after the other. No action of this plan slows down another action.
//   So it runs in the whole memories, and more memory does not make it slower. But if actions may have to wait for a
//   memory that several devices share, or for host memory, there is no such run.
// - The run within the least limits within which the plan runs. So a plan is not refused between two limits of the
//   list.
// All but the run with transfers that go one after the other do not depend on the sizes of the memories. So more memory
// never makes the fastest of these runs slower.
//
// A run that takes too long is not simulated to its end (least_rest.hpp). Within all smaller limits that leave room for
// the bytes that it has reserved until then, the run is the same until then, and takes too long, too.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "planning/placement/turns/limit_list.hpp"

namespace sluice {

struct LimitedRun {
  static constexpr std::int64_t none = no_limit;
  using Limits = std::vector<std::int64_t>;

  double seconds = std::numeric_limits<double>::infinity();
  /// For each of the pools, the bytes that the run may use. `none` means all bytes.
  Limits limits;
  /// Whether transfers that share links go one after the other, in one stream.
  bool in_turn = false;
  /// A lower bound of the seconds of all runs of the plan within limits, also if the pools had less bytes.
  double at_least = 0;
};

/// Which runs are wanted.
struct RunsWanted {
  /// Runs that take these seconds or more are not needed.
  double worth = std::numeric_limits<double>::infinity();
  double enough = 0;       ///< the search ends when a run takes at most these seconds
  std::size_t firsts = 1;  ///< how many of the pools are first memories; they come first
  bool alike =
      false;  ///< whether the devices are alike, so that all first memories have the same least limit
  /// Whether transfers that share links may go one after the other.
  bool in_turn = true;
  bool many = false;  ///< whether many limits are tried for long plans, too
};

/// Returns the fastest of the runs above in which each of these pools has room. If no run takes less than
/// RunsWanted::worth seconds, the seconds of the result are infinite or at least `worth`. They are also infinite if the
/// plan does not fit. If no transfers share links, one device owns each pool, and host memory is never full, only the
/// run without limits is simulated, because no limit makes it faster.
LimitedRun fastest_within(const Plan& plan, const std::vector<std::uint32_t>& pools,
                          const RunsWanted& wanted = {});

/// Changes the plan so that it has this run. Returns a text that says what has changed, or "" if nothing has.
std::string keep_within(const LimitedRun& run, Plan& plan, const std::vector<std::uint32_t>& pools);

}  // namespace sluice
