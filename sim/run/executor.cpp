#include "run/executor.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "execute/simgrid/engine.hpp"
#include "run/comparison.hpp"

namespace sluice {

namespace {

/// Executes the plan by SimGrid and by the replay, and compares the spans of the two executions. The replay leaves out
/// the same periods as under the executor `replay`.
void execute_both(const Plan& plan, Sink& sink, const ExecutorOptions& options) {
  Times times(plan, sink);
  execute_or_throw(simgrid_executor, plan, times, options);
  const bool is_exact = !options.may_skip && PlanTables(plan).contention_free();
  Comparison comparison(plan, times, is_exact ? 0 : 1e-9 * times.makespan());
  execute_or_throw(replay_executor, plan, comparison, {.may_skip = options.may_skip});
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
    throw UsageError("'" + name + "' is not an executor" + did_you_mean(name, names) +
                     "; known: " + join(names));
  return static_cast<Executor>(found - names.begin());
}

Executor resolved(Executor executor, const Plan& plan) {
  if (executor != Executor::automatic) return executor;
  return executions_of(plan) <= most_for_simgrid ? Executor::simgrid : Executor::replay;
}

void execute(const Plan& plan, Executor executor, Sink& sink, const ExecutorOptions& options) {
  const Executor one = resolved(executor, plan);
  ExecutorOptions chosen = options;
  chosen.may_skip = executions_of(plan) > most_for_simgrid;
  if (one == Executor::both) return execute_both(plan, sink, chosen);
  execute_or_throw(one == Executor::replay ? replay_executor : simgrid_executor, plan, sink,
                   chosen);
}

}  // namespace sluice
