#include "execute/arithmetic/replay.hpp"

#include <utility>

#include "execute/arithmetic/execution.hpp"
#include "execute/executor.hpp"

namespace sluice {

using arithmetic::Replay;

ReplayResult replay(const Plan& plan, const ReplayOptions& options) {
  return replay(PlanTables(plan), options);
}

ReplayResult replay(const PlanTables& tables, const ReplayOptions& options) {
  return Replay(tables, nullptr, options).run();
}

ReplayResult replay(const PlanTables& tables, Sink& sink, const ReplayOptions& options) {
  return Replay(tables, &sink, options).run();
}

ReplayResult replay(const Plan& plan, Sink& sink, const ReplayOptions& options) {
  return replay(PlanTables(plan), sink, options);
}

ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& each) {
  struct SpanCallback final : Sink {
    explicit SpanCallback(const std::function<void(const Executed&)>& function)
        : each_span(function) {}
    void span(const Span& span) override { each_span(span); }
    void memory(const MemoryEvent&) override {}
    const std::function<void(const Executed&)>& each_span;
  };
  SpanCallback sink(each);
  return replay(plan, sink);
}

namespace {
Outcome execute_by_replay(const Plan& plan, Sink& sink, const ExecutorOptions& options) {
  const ReplayOptions replayed{.jumps = options.may_skip, .progress = options.progress};
  ReplayResult result =
      options.tables ? replay(*options.tables, sink, replayed) : replay(plan, sink, replayed);
  return {result.makespan, std::move(result.blocking)};
}
}  // namespace

extern const PlanExecutor replay_executor = {
    .name = "replay",
    .summary =
        "Computes the events by arithmetic, with max-min sharing of links; skips whole periods of "
        "a long steady state.",
    .execute = execute_by_replay,
};

}  // namespace sluice
