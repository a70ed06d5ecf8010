#include "metrics/paths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "metrics/window.hpp"
#include "plan/tables.hpp"

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

PathGraph::PathGraph(const Plan& p) : plan(p), order(p.actions.size()) {
  nodes.reserve(p.actions.size());
  waits.reserve(p.actions.size());
  for (std::uint32_t a = 0; a < p.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    Node& node = nodes.emplace_back();
    node.seconds = seconds_alone(plan, action);
    if (!action.flows.empty()) node.latency_s = latency(plan, action);
    node.not_before = action.not_before;
    node.stream = action.stream;
    node.body = plan.section_of(a) == Section::body;
    node.ahead = node.body ? action.ahead : 0;
    node.wait_begin = static_cast<std::uint32_t>(waits.size());
    waits.insert(waits.end(), action.waits.begin(), action.waits.end());
    node.wait_end = static_cast<std::uint32_t>(waits.size());
    for (const Wait& wait : action.waits)
      if (plan.section_of(wait.action) == Section::body)
        longest_wait = std::max<std::int64_t>(longest_wait, wait.distance);
    if (std::abs(node.ahead) < plan.iterations)
      farthest_ahead = std::max(farthest_ahead, std::abs(node.ahead));
  }
  std::iota(order.begin(), order.end(), 0U);
  for (const Section section : {Section::prologue, Section::body, Section::epilogue})
    sort_section(section);
}

std::int64_t PathGraph::runs_between(const Node& node, std::int64_t begin, std::int64_t end) const {
  const std::int64_t first = std::max(begin, -node.ahead);
  const std::int64_t last = std::min(end, plan.iterations - node.ahead);
  return std::max<std::int64_t>(0, last - first);
}

/// Orders a section so that each action comes after the actions for which it waits, and after the earlier actions of
/// its stream. If the listing order is such an order, it stays.
void PathGraph::sort_section(Section section) {
  const std::uint32_t begin = plan.section_begin(section), end = plan.section_end(section);
  const auto inside = [&](const Wait& wait) {
    return wait.action >= begin && wait.action < end && wait.distance == 0;
  };
  bool sorted = true;
  for (std::uint32_t a = begin; a < end && sorted; ++a)
    for (std::uint32_t w = nodes[a].wait_begin; w < nodes[a].wait_end; ++w)
      if (inside(waits[w]) && waits[w].action >= a) sorted = false;
  if (sorted) return;

  // Actions that never run get the first places in `order`. Then the actions of each stream get places, one after the
  // other. If the next action of a stream waits for an action without a place, the stream stops. It goes on when the
  // awaited action has a place.
  const bool all_run = section != Section::body;
  std::vector<char> placed(end - begin, 0);
  std::vector<std::uint32_t> next(end - begin, none);  // for each action, the next on its stream
  // For each action, the first stream in the list of streams that wait for it.
  std::vector<std::uint32_t> first_waiter(end - begin, none);
  std::vector<std::uint32_t> head(plan.streams.size(), none),
      next_waiter(plan.streams.size(), none);
  std::uint32_t place = begin;
  for (std::uint32_t a = end; a-- > begin;)
    if (all_run || plan.executions_of(a) > 0)
      next[a - begin] = std::exchange(head[nodes[a].stream], a);
    else
      placed[a - begin] = 1;
  for (std::uint32_t a = begin; a < end; ++a)
    if (placed[a - begin] != 0) order[place++] = a;
  const auto awaited = [&](std::uint32_t a) {
    for (std::uint32_t w = nodes[a].wait_begin; w < nodes[a].wait_end; ++w)
      if (inside(waits[w]) && placed[waits[w].action - begin] == 0) return waits[w].action;
    return none;
  };
  std::vector<std::uint32_t> ready(plan.streams.size());
  std::iota(ready.rbegin(), ready.rend(), 0U);
  while (!ready.empty()) {
    const std::uint32_t stream = ready.back();
    ready.pop_back();
    for (std::uint32_t& a = head[stream]; a != none; a = next[a - begin]) {
      if (const std::uint32_t other = awaited(a); other != none) {
        next_waiter[stream] = std::exchange(first_waiter[other - begin], stream);
        break;
      }
      order[place++] = a;
      placed[a - begin] = 1;
      for (std::uint32_t s = first_waiter[a - begin]; s != none; s = next_waiter[s])
        ready.push_back(s);
    }
  }
  if (place != end) throw InternalError("the waits of a checked plan form a cycle");
}

namespace {

class Backwards {
 public:
  explicit Backwards(const PathGraph& graph)
      : graph_(graph),
        plan_(graph.plan),
        few_(std::min(plan_.iterations, graph.farthest_ahead + 4)),
        known_(graph.nodes.size(), 0),
        window_(plan_, few_),
        rest_(plan_.streams.size(), 0) {
    tails_.action_tail.assign(graph.nodes.size(), infinity);
    tails_.stream_tail.assign(plan_.streams.size(), infinity);
  }

  Tails run() {
    section(Section::epilogue);
    const std::int64_t n = plan_.iterations, first = n - few_;
    iterations(first, n);
    if (first > 0) {
      // The walk goes backwards, and has visited the last few iterations. For the iterations in the middle, only the
      // work of each stream counts. Then the walk visits the first few iterations.
      const std::int64_t front = std::min(few_, first);
      for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a) {
        const PathGraph::Node& node = graph_.nodes[a];
        rest_[node.stream] +=
            static_cast<double>(graph_.runs_between(node, front, first)) * node.seconds;
      }
      window_.clear();
      iterations(0, front);
    }
    section(Section::prologue);
    return std::move(tails_);
  }

 private:
  void section(Section section) {
    for (std::uint32_t i = plan_.section_end(section); i-- > plan_.section_begin(section);)
      execute(graph_.order[i], 0, known_[graph_.order[i]]);
  }

  void iterations(std::int64_t begin, std::int64_t end) {
    begin_ = begin;
    for (std::int64_t iteration = end; iteration-- > begin;)
      for (std::uint32_t i = plan_.body_end; i-- > plan_.body_begin;) {
        const std::uint32_t a = graph_.order[i];
        if (graph_.runs(graph_.nodes[a], iteration))
          execute(a, iteration, window_.at(a, iteration));
      }
  }

  /// Sets the tail of this execution: the seconds that must pass from its end to the end of the run. `pushed` is the
  /// seconds of the longest path from the arrival of its data to the end of the run, through an action that waits for
  /// these data.
  void execute(std::uint32_t a, std::int64_t iteration, double pushed) {
    const PathGraph::Node& node = graph_.nodes[a];
    const double tail = std::max(rest_[node.stream], node.latency_s + pushed);
    if (tails_.action_tail[a] == infinity) tails_.action_tail[a] = tail;
    double& last = tails_.stream_tail[node.stream];
    if (last == infinity) last = tail;
    const double from_start = node.seconds + tail;
    rest_[node.stream] = from_start;
    for (std::uint32_t w = node.wait_begin; w < node.wait_end; ++w)
      push(node, graph_.waits[w], iteration, from_start);
  }

  void push(const PathGraph::Node& node, const Wait& wait, std::int64_t iteration,
            double from_start) {
    double* target = &known_[wait.action];
    if (graph_.nodes[wait.action].body) {
      const std::int64_t on = (node.body ? iteration : plan_.iterations - 1) - wait.distance;
      const std::int64_t oldest = node.body ? begin_ : plan_.iterations - few_;
      if (on < oldest || on < 0) return;
      target = &window_.at(wait.action, on);
    }
    *target = std::max(*target, from_start);
  }

  const PathGraph& graph_;
  const Plan& plan_;
  std::int64_t few_, begin_ = 0;
  LargeVector<double> known_;  ///< `pushed` by action, outside of the body
  Window window_;              ///< `pushed` by execution
  /// For each stream, the seconds from the start of the stream's next execution to the end of the run.
  std::vector<double> rest_;
  Tails tails_;
};

}  // namespace

Tails walk_backwards(const PathGraph& graph) {
  return Backwards(graph).run();
}

}  // namespace sluice
