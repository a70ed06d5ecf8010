// Computes the earliest start of each execution of a plan, as paths.hpp describes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "metrics/paths.hpp"
#include "metrics/window.hpp"

namespace sluice {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// The number of executions whose times are kept. These are the latest executions. A wait for an
/// older execution is ignored.
constexpr std::int64_t most_remembered = 4'000'000;

class Forwards {
 public:
  Forwards(const PathGraph& graph, std::int64_t most)
      : graph_(graph),
        plan_(graph.plan),
        body_(std::max<std::int64_t>(1, plan_.body_end - plan_.body_begin)),
        reach_(std::min({graph.longest_wait + 1, plan_.iterations, 1 + most_remembered / body_})),
        available_(graph.nodes.size(), 0),
        window_(plan_, reach_),
        time_(plan_.streams.size(), 0),
        most_(most) {
    heads_.action_start.assign(graph.nodes.size(), infinity);
    heads_.stream_start.assign(plan_.streams.size(), infinity);
  }

  Heads run() {
    section(Section::prologue);
    iterations();
    section(Section::epilogue);
    return std::move(heads_);
  }

 private:
  void section(Section section) {
    for (std::uint32_t i = plan_.section_begin(section); i < plan_.section_end(section); ++i)
      available_[graph_.order[i]] = execute(graph_.order[i], 0);
  }

  /// Visits the iterations of the body, but skips iterations in the middle. They are skipped as soon as all times (see
  /// the comment above jump()) grow evenly, or when `most_` executions have been visited.
  void iterations() {
    const std::int64_t n = plan_.iterations;
    const std::int64_t few = std::max(reach_, graph_.farthest_ahead + 1);
    const std::int64_t half = std::max(few, most_ / body_ / 2);
    std::int64_t walked = 0;
    for (std::int64_t iteration = 0; iteration < n; ++iteration) {
      walk(iteration);
      if (iteration >= few && iteration < n - few) iteration += jump(iteration, n - few);
      if (++walked == half && iteration + 1 < n - half) {
        skip(iteration + 1, n - half);
        iteration = n - half - 1;
      }
    }
  }

  void walk(std::int64_t iteration) {
    for (std::uint32_t i = plan_.body_begin; i < plan_.body_end; ++i) {
      const std::uint32_t a = graph_.order[i];
      window_.at(a, iteration) =
          graph_.runs(graph_.nodes[a], iteration) ? execute(a, iteration) : 0;
    }
  }

  void skip(std::int64_t begin, std::int64_t end) {
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a) {
      const PathGraph::Node& node = graph_.nodes[a];
      time_[node.stream] +=
          static_cast<double>(graph_.runs_between(node, begin, end)) * node.seconds;
    }
    window_.clear();  // Later executions must not use the times of skipped iterations.
  }

  /// Computes one execution. Returns the time at which its data have arrived.
  double execute(std::uint32_t a, std::int64_t iteration) {
    const PathGraph::Node& node = graph_.nodes[a];
    double start = std::max(time_[node.stream], node.not_before);
    for (std::uint32_t w = node.wait_begin; w < node.wait_end; ++w)
      start = std::max(start, awaited(node, graph_.waits[w], iteration));
    if (heads_.action_start[a] == infinity) heads_.action_start[a] = start;
    double& first = heads_.stream_start[node.stream];
    if (first == infinity) first = start;
    const double end = start + node.seconds;
    time_[node.stream] = end;
    heads_.latest_available = std::max(heads_.latest_available, end + node.latency_s);
    return end + node.latency_s;
  }

  double awaited(const PathGraph::Node& node, const Wait& wait, std::int64_t iteration) {
    if (!graph_.nodes[wait.action].body) return available_[wait.action];
    const std::int64_t on = (node.body ? iteration : plan_.iterations - 1) - wait.distance;
    if (on < 0 || static_cast<std::int64_t>(wait.distance) >= reach_) return 0;
    return window_.at(wait.action, on);
  }

  // The walk over the iterations keeps two sorts of times: for each action, when its latest data arrive, and for each
  // stream, when its latest execution ends. Each of these times grows by some amount per iteration. Suppose that a wait
  // looks back at most R iterations, and that none of these amounts changed in the last R iterations. Then each further
  // iteration adds the same amounts, as long as the same waits decide the starts. But the time of another wait may grow
  // faster than the time that decides a start. So the other wait decides this start after some iterations: (the
  // difference of the two times) / (the difference of their growths). All iterations before that are skipped in one
  // step. The result is exact.

  /// Skips iterations between `iteration` and `end`. Returns the number of skipped iterations.
  std::int64_t jump(std::int64_t iteration, std::int64_t end) {
    if (!grows_evenly(iteration)) return 0;
    const std::int64_t count = std::min(end - 1 - iteration, until_overtaken(iteration));
    if (count <= 0) return 0;
    const auto times = static_cast<double>(count);
    for (std::size_t s = 0; s < time_.size(); ++s) time_[s] += times * stream_growth_[s];
    const Window before = window_;
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
      for (std::int64_t back = 0; back < reach_; ++back)
        window_.at(a, iteration + count - back) =
            before.at(a, iteration - back) + times * growth_[a - plan_.body_begin];
    even_ = 0;
    last_.clear();
    return count;
  }

  /// Stores the growth of each of the times since the previous iteration. Returns whether none of these
  /// growths has changed for more than `reach_` iterations.
  bool grows_evenly(std::int64_t iteration) {
    if (reach_ > 64) return false;
    const std::size_t width = plan_.body_end - plan_.body_begin;
    const bool compared = !last_.empty();
    bool same = compared && !growth_.empty();
    std::vector<double> now(width), growth(width);
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a) {
      const std::size_t i = a - plan_.body_begin;
      now[i] = window_.at(a, iteration);
      if (!compared) continue;
      growth[i] = now[i] - last_[i];
      same = same && close(growth[i], growth_[i], now[i]);
    }
    stream_growth_.assign(time_.size(), 0);
    for (std::size_t s = 0; compared && s < time_.size(); ++s)
      stream_growth_[s] = time_[s] - last_time_[s];
    even_ = same ? even_ + 1 : 0;
    // If the growths are the same as before, the earlier numbers stay. If the new growths replaced them, rounding
    // errors would add up.
    if (compared && !same) growth_ = std::move(growth);
    last_ = std::move(now);
    last_time_ = time_;
    return even_ > reach_;
  }

  static bool close(double a, double b, double time) {
    return std::abs(a - b) <= 16 * std::numeric_limits<double>::epsilon() * std::abs(time);
  }

  /// Returns the number of following iterations in which each of the times grows by the same amount as in this
  /// iteration. The number may be 0.
  std::int64_t until_overtaken(std::int64_t iteration) {
    double most = static_cast<double>(plan_.iterations);
    std::vector<double> time = time_, growth = stream_growth_, next(growth_.size());
    for (std::uint32_t i = plan_.body_begin; i < plan_.body_end; ++i) {
      const std::uint32_t a = graph_.order[i];
      const PathGraph::Node& node = graph_.nodes[a];
      // If the work of an action would be needed only after the last iteration, the action does not
      // run.
      if (!graph_.runs(node, iteration + 1)) continue;
      const double grows = growth_[a - plan_.body_begin];
      const double after = node.seconds + node.latency_s;
      const double available = window_.at(a, iteration) + grows, start = available - after;
      double latest = 0;
      const auto consider = [&](double value, double faster) {
        latest = std::max(latest, value);
        if (faster > 1e-12 * grows && !close(faster, 0, value))
          most = std::min(most, std::floor((start - value) / faster));
      };
      consider(time[node.stream], growth[node.stream] - grows);
      for (std::uint32_t w = node.wait_begin; w < node.wait_end; ++w) {
        const Wait& wait = graph_.waits[w];
        if (!graph_.nodes[wait.action].body) {
          consider(available_[wait.action], -grows);
          continue;
        }
        if (static_cast<std::int64_t>(wait.distance) >= reach_) continue;
        const std::size_t on = wait.action - plan_.body_begin;
        consider(
            wait.distance == 0 ? next[on] : window_.at(wait.action, iteration + 1 - wait.distance),
            growth_[on] - grows);
      }
      if (!close(latest, start, available)) return 0;
      next[a - plan_.body_begin] = available;
      time[node.stream] = available - node.latency_s;
      growth[node.stream] = grows;
    }
    return static_cast<std::int64_t>(most);
  }

  const PathGraph& graph_;
  const Plan& plan_;
  std::int64_t body_, reach_;
  LargeVector<double> available_;  ///< indexed by action of the prologue and the epilogue
  Window window_;
  std::vector<double> time_;  ///< for each stream, the end of the stream's latest execution
  std::int64_t most_;
  Heads heads_;
  std::int64_t even_ = 0;  ///< the number of consecutive iterations with equal growth
  /// For each action of the body: the time at which its latest data arrived, and the growth of this time since the
  /// previous iteration.
  std::vector<double> last_, growth_;
  /// For each stream: the end of its latest execution, and the growth of this end since the previous iteration.
  std::vector<double> last_time_, stream_growth_;
};

}  // namespace

Heads walk_forwards(const PathGraph& graph, std::int64_t most) {
  return Forwards(graph, most).run();
}

}  // namespace sluice
