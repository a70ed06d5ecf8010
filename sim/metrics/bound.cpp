#include "metrics/bound.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "metrics/paths.hpp"

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t most_executions = 20'000'000;
/// If a bound is at most this share below the greatest bound, the two count as equal.
constexpr double near = 0.01;
/// A resource (a stream or a link) can be the reason for the bound only if its own work is at least this share of the
/// bound. This rule excludes a resource that has little work between long actions of other resources.
constexpr double own_share = 0.5;

/// The work of one link. `head` is the earliest time at which a byte can cross the link. `busy` is the seconds for
/// which the link works. `tail` is the least number of seconds between the last byte on the link and the end of the
/// run.
struct LinkLoad {
  double head = infinity, busy = 0, tail = infinity;
};

std::vector<LinkLoad> link_loads(const PathGraph& graph, const Heads& heads, const Tails& tails) {
  const Plan& plan = graph.plan;
  std::vector<LinkLoad> loads(plan.links.size());
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    const auto executions = static_cast<double>(plan.executions_of(a));
    if (executions == 0) continue;
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links) {
        LinkLoad& load = loads[link];
        const double setup_s = plan.routes[flow.route].setup_s;
        load.head = std::min(load.head, heads.action_start[a] + setup_s);
        load.busy += executions * static_cast<double>(flow.bytes) / plan.links[link].bandwidth;
        load.tail = std::min(load.tail, tails.action_tail[a]);
      }
  }
  return loads;
}

std::vector<double> stream_busy(const PathGraph& graph) {
  std::vector<double> busy(graph.plan.streams.size(), 0);
  for (std::uint32_t a = 0; a < graph.nodes.size(); ++a)
    busy[graph.nodes[a].stream] +=
        static_cast<double>(graph.plan.executions_of(a)) * graph.nodes[a].seconds;
  return busy;
}

/// The bound that one stream or link gives: the run takes at least `seconds`. The stream or link works
/// for `busy` of these seconds.
struct ResourceBound {
  double seconds, busy;
  std::string_view name;
};

/// Returns the bound of the makespan: the greatest of `path` and the bounds of all resources. Also returns the resource
/// that is the reason for the bound. The own bound of this resource must be near the greatest bound, and the work of
/// the resource must be a large part of the greatest bound. If several resources qualify, the result is the resource
/// that works longest. If none qualifies, the result is "dependencies". Even if all other resources
/// become faster, the bound is at least the seconds for which the returned resource works.
Bound greatest(const std::vector<ResourceBound>& bounds, double path) {
  double most = path;
  for (const ResourceBound& bound : bounds) most = std::max(most, bound.seconds);
  const ResourceBound* binds = nullptr;
  for (const ResourceBound& bound : bounds)
    if (bound.busy > 0 && bound.seconds >= most * (1 - near) && bound.busy >= most * own_share &&
        (!binds || bound.busy > binds->busy))
      binds = &bound;
  return {most, binds ? std::string(binds->name) : "dependencies"};
}

}  // namespace

// The proof of the bound:
// - An execution is an action in an iteration. It starts after the previous execution on its stream has ended and the
//   awaited data have arrived. It lasts at least as long as it would last alone on its links. Its data arrive `latency`
//   after its end. Limits of memory can only delay the execution.
// - A path follows waits and the order of the actions on a stream. The head of an execution is the longest path from
//   the beginning of the run to the execution. The head is a lower bound of the start. The tail of an execution is the
//   longest path from its end to the end of the run. The tail is a lower bound of the seconds that must follow. The
//   longest of all paths is a lower bound of the makespan. If some waits are ignored, these numbers are still lower
//   bounds.
// - A stream executes one action at a time. So makespan >= head of the stream's first execution + sum of the durations
//   of all its executions + tail of its last execution.
// - A link moves at most `bandwidth` bytes per second. No byte crosses the link before the smallest (head + setup) of
//   its flows, where setup is the time before the bytes of a flow move. After the last flow on the link, the action of
//   this flow ends, and the tail of the action follows. Of all tails of an action, the tail of its last execution is
//   the shortest, so this tail counts. So makespan >= smallest (head + setup) + (sum of bytes) / bandwidth + smallest
//   tail.
Bound lower_bound(const Plan& plan) {
  const PathGraph graph(plan);
  const Heads heads = walk_forwards(graph, most_executions);
  const Tails tails = walk_backwards(graph);

  std::vector<ResourceBound> bounds;
  const std::vector<double> busy = stream_busy(graph);
  for (std::size_t s = 0; s < busy.size(); ++s)
    if (heads.stream_start[s] < infinity)
      bounds.push_back(
          {heads.stream_start[s] + busy[s] + tails.stream_tail[s], busy[s], plan.streams[s].name});
  const std::vector<LinkLoad> loads = link_loads(graph, heads, tails);
  for (std::size_t l = 0; l < loads.size(); ++l)
    if (loads[l].head < infinity)
      bounds.push_back(
          {loads[l].head + loads[l].busy + loads[l].tail, loads[l].busy, plan.links[l].name});
  return greatest(bounds, heads.latest_available);
}

}  // namespace sluice
