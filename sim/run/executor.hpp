// Chooses the executor of a plan. SimGrid is the reference, and the replay is faster than SimGrid. `both` compares the
// results of SimGrid and the replay.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "execute/executor.hpp"
#include "plan/plan.hpp"
#include "trace/span.hpp"

namespace sluice {

enum class Executor : std::uint8_t { automatic, simgrid, replay, both };

/// Returns the names "auto", "simgrid", "replay", "both". The value of an Executor is an index into this list.
const std::vector<std::string>& executor_names();
std::string_view name_of(Executor executor);
/// Returns the executor with the given name. Throws UsageError if there is no such executor.
Executor executor_named(const std::string& name);

/// `automatic` means SimGrid for plans with at most this number of executed actions. For all other plans, it means the
/// replay. In a run with so few actions, the replay computes every period. So if no link is shared, SimGrid and the
/// replay write equal traces.
inline constexpr std::int64_t most_for_simgrid = 100'000;
/// Returns the number of actions that a run executes: the prologue, all iterations of the body, and the epilogue.
/// Dropped actions do not count.
std::int64_t executions_of(const Plan& plan);
/// Returns the executor that `automatic` means for this plan. Returns any other executor unchanged.
Executor resolved(Executor executor, const Plan& plan);

/// Executes a checked plan. Throws the exceptions of the executor. Throws Infeasible if the plan blocks.
void execute_or_throw(const PlanExecutor& executor, const Plan& plan, Sink& sink,
                      const ExecutorOptions& options);

/// If an execution ended in a deadlock, `blocking` has a value. Throws Infeasible in this case.
void require_end(const Plan& plan, const std::optional<Deadlock>& blocking);

/// Executes a checked plan. With `both`, the sink receives the execution by SimGrid. Throws InternalError if a start or
/// an end of a span differs between SimGrid and the replay. The message names the first such span. The times must be
/// exactly equal if no link is shared and at most `most_for_simgrid` actions are executed. Otherwise the times may
/// differ by 1e-9 of the makespan. Throws the exceptions of the executors. Throws Infeasible if the plan blocks.
/// SimGrid can run only once per process.
void execute(const Plan& plan, Executor executor, Sink& sink, const ExecutorOptions& options);

}  // namespace sluice
