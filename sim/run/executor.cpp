#include "run/executor.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/shortage.hpp"
#include "run/comparison.hpp"

namespace sluice {

namespace {

void replay_or_throw(const Plan& plan, Sink& sink, const EngineOptions& options) {
  const ReplayResult result = replay(plan, sink, {.progress = options.progress});
  if (result.blocking)
    throw Infeasible(describe(plan, *result.blocking), shortage_of(plan, *result.blocking));
}

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
