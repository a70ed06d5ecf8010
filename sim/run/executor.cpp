#include "run/executor.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "execute/arithmetic/replay.hpp"

namespace sluice {

namespace {

void replay_or_throw(const Plan& plan, Sink& sink, const EngineOptions& options) {
  const ReplayResult result = replay(plan, sink, {.progress = options.progress});
  if (result.blocking) throw Infeasible(describe(plan, *result.blocking));
}

/// Hands on, and keeps when each execution of an action started and ended.
class Times final : public Sink {
 public:
  struct Pair {
    double start = 0, end = 0;
  };
  Times(const Plan& plan, Sink& next) : next_(next), times_(plan.actions.size()) {}
  void span(const Span& span) override {
    times_[span.action].push_back({span.start, span.end});
    makespan_ = std::max(makespan_, span.available);
    next_.span(span);
  }
  void memory(const MemoryEvent& event) override { next_.memory(event); }

  const std::vector<Pair>& of(std::uint32_t action) const { return times_[action]; }
  double makespan() const { return makespan_; }

 private:
  Sink& next_;
  std::vector<std::vector<Pair>> times_;  ///< by action, in the order of its executions
  double makespan_ = 0;
};

/// Looks at each span of the second execution beside that of the first.
class Comparison final : public Sink {
 public:
  Comparison(const Plan& plan, const Times& times)
      : plan_(plan), times_(times), seen_(plan.actions.size(), 0) {}

  void span(const Span& span) override {
    const std::vector<Times::Pair>& expected = times_.of(span.action);
    const std::size_t number = seen_[span.action]++;
    if (number >= expected.size()) return disagree(span, "it was not executed");
    const auto [start, end] = expected[number];
    const double tolerance = 1e-9 * times_.makespan();
    if (std::abs(span.start - start) <= tolerance && std::abs(span.end - end) <= tolerance) return;
    disagree(span, "it runs from " + exact(start) + " s to " + exact(end) + " s");
  }
  void memory(const MemoryEvent&) override {}

  void finish() const {
    for (std::uint32_t a = 0; a < seen_.size(); ++a)
      if (seen_[a] < times_.of(a).size())
        throw InternalError("the executors differ: the replay leaves out '" +
                            plan_.actions[a].name + "'");
  }

 private:
  [[noreturn]] void disagree(const Span& span, const std::string& there) const {
    throw InternalError(
        "the executors differ first at " + action_label(plan_, span.action, span.iteration) +
        " on " + plan_.streams[plan_.actions[span.action].stream].name + ": in SimGrid " + there +
        ", in the replay from " + exact(span.start) + " s to " + exact(span.end) + " s");
  }

  const Plan& plan_;
  const Times& times_;
  std::vector<std::size_t> seen_;  ///< by action
};

void execute_both(const Plan& plan, Sink& sink, const EngineOptions& options) {
  Times times(plan, sink);
  execute(plan, times, options);
  Comparison comparison(plan, times);
  replay_or_throw(plan, comparison, {});
  comparison.finish();
}

}  // namespace

const std::vector<std::string>& executor_names() {
  static const std::vector<std::string> names = {"auto", "simgrid", "replay", "both"};
  return names;
}

std::string_view name_of(Executor executor) {
  return executor_names()[static_cast<std::size_t>(executor)];
}

Executor executor_named(const std::string& name) {
  const auto& names = executor_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw UsageError("'" + name + "' is no executor" + did_you_mean(name, names) +
                     "; known: " + join(names));
  return static_cast<Executor>(found - names.begin());
}

std::int64_t executions_of(const Plan& plan) {
  std::int64_t total = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) total += plan.executions_of(a);
  return total;
}

Executor resolved(Executor executor, const Plan& plan) {
  if (executor != Executor::automatic) return executor;
  return executions_of(plan) <= most_for_simgrid ? Executor::simgrid : Executor::replay;
}

void execute(const Plan& plan, Executor executor, Sink& sink, const EngineOptions& options) {
  switch (resolved(executor, plan)) {
    case Executor::replay:
      return replay_or_throw(plan, sink, options);
    case Executor::both:
      return execute_both(plan, sink, options);
    default:
      execute(plan, sink, options);
  }
}

}  // namespace sluice
