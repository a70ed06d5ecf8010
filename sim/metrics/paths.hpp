// Computes the longest paths through a plan. For each execution, these paths give two times: its earliest start, and
// the time that must pass from its end to the end of the run. The paths follow the waits and the order of the actions
// on each stream. They ignore limits of memory, and they ignore that flows share links. So both times are lower bounds.
// Only lower_bound() uses this file.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/large_pages.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// A plan's actions, with the numbers that the computation of paths needs.
struct PathGraph {
  struct Node {
    double seconds = 0;    ///< the seconds of the action if it is alone on its links
    double latency_s = 0;  ///< the seconds from the end of the action to the arrival of its data
    /// The action must not start before this time, in seconds from the start of the run.
    double not_before = 0;
    std::int64_t ahead = 0;
    std::uint32_t stream = 0;
    std::uint32_t wait_begin = 0, wait_end = 0;  ///< the range of the action's waits in `waits`
    bool body = false;
  };
  explicit PathGraph(const Plan& plan);

  bool runs(const Node& node, std::int64_t iteration) const {
    const std::int64_t served = iteration + node.ahead;
    return served >= 0 && served < plan.iterations;
  }
  /// Returns how often the action runs in the iterations `begin` to `end` - 1 of the body.
  std::int64_t runs_between(const Node& node, std::int64_t begin, std::int64_t end) const;

  const Plan& plan;
  LargeVector<Node> nodes;
  LargeVector<Wait> waits;
  /// The actions, section by section. Each action comes after the actions for which it waits, and after the earlier
  /// actions of its stream.
  LargeVector<std::uint32_t> order;
  std::int64_t longest_wait = 0;  ///< the greatest distance of a wait, in iterations
  /// The largest `ahead` (without its sign) of all actions that ever run, in iterations.
  std::int64_t farthest_ahead = 0;

 private:
  void sort_section(Section section);
};

/// For each action and each stream, the earliest start of its first execution. If it has no execution, the start is
/// infinity.
struct Heads {
  LargeVector<double> action_start;
  std::vector<double> stream_start;
  double latest_available = 0;  ///< seconds of the longest path: no run ends earlier
};
struct Tails {
  /// For each action, the seconds that must pass from the end of its last execution to the end of the run.
  LargeVector<double> action_tail;
  /// For each stream, the seconds that must pass from the end of its last execution to the end of the run.
  std::vector<double> stream_tail;
};

/// Computes the heads of a plan from its start to its end. Consecutive iterations in which all times grow by the same
/// amounts as in the iteration before are computed in one step. All other iterations are visited one by one, up to
/// `most` executions in all. If there are more executions, some iterations in the middle are skipped. A skipped
/// iteration makes each stream free later, by the seconds of the stream's actions. Waits in it are ignored.
Heads walk_forwards(const PathGraph& graph, std::int64_t most);
/// Computes the tails of a plan from its end to its start. Only the first few and the last few iterations are visited.
Tails walk_backwards(const PathGraph& graph);

}  // namespace sluice
