// Longest paths through a plan: the earliest start of each execution, and what must still come
// after it, from stream order and waits alone (endless memory, every transfer alone on its links).
// Both are lower bounds. Internal to lower_bound().
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// A plan's actions as arithmetic needs them.
struct PathGraph {
  struct Node {
    double seconds = 0;     ///< occupies its stream, alone on its links
    double latency_s = 0;   ///< until those who wait may start
    double not_before = 0;  ///< s of the run
    std::int64_t ahead = 0;
    std::uint32_t stream = 0;
    std::uint32_t wait_begin = 0, wait_end = 0;  ///< in `waits`
    bool body = false;
  };
  explicit PathGraph(const Plan& plan);

  bool runs(const Node& node, std::int64_t iteration) const {
    const std::int64_t served = iteration + node.ahead;
    return served >= 0 && served < plan.iterations;
  }
  /// How often it runs in the iterations begin … end - 1 of the body.
  std::int64_t runs_between(const Node& node, std::int64_t begin, std::int64_t end) const;

  const Plan& plan;
  std::vector<Node> nodes;
  std::vector<Wait> waits;
  std::vector<std::uint32_t>
      order;                        ///< of the actions, section by section: waits and stream before
  std::int64_t longest_wait = 0;    ///< iterations, of waits on the body
  std::int64_t farthest_ahead = 0;  ///< iterations, of actions that run at all

 private:
  void sort_section(Section section);
};

/// By action: of its first execution. By stream: of its first and last one. Infinity where nothing
/// runs.
struct Heads {
  std::vector<double> action_start, stream_start;
  double latest_available = 0;  ///< the longest path
};
struct Tails {
  std::vector<double> action_tail;  ///< after the end of its last execution
  std::vector<double> stream_tail;  ///< after the end of its last action
};

/// Iterations that add the same to every time are not walked through, but counted at once. Beside
/// these at most `most` executions are walked through; where there are more, the iterations in the
/// middle count with the work of each stream alone.
Heads walk_forwards(const PathGraph& graph, std::int64_t most);
/// Looks at the first and last few iterations only.
Tails walk_backwards(const PathGraph& graph);

}  // namespace sluice
