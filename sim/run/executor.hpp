// Chooses the executor of a plan. The executor `simgrid` is the reference, and the executor `replay` is faster. The
// executor `both` executes the plan with each of them, and compares the results.
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

/// If a run executes at most this number of actions, `automatic` means SimGrid. Otherwise `automatic` means the replay.
/// In a run with at most this number of actions, the replay leaves out no period. So if no link is shared, SimGrid and
/// the replay write equal traces of this run.
inline constexpr std::int64_t most_for_simgrid = 100'000;
/// Returns the number of actions that a run executes: the prologue, all iterations of the body, and the epilogue.
/// Dropped actions do not count.
std::int64_t executions_of(const Plan& plan);
/// If `executor` is `automatic`, returns the executor that it means for this plan. Otherwise, returns `executor`.
Executor resolved(Executor executor, const Plan& plan);

/// Executes a checked plan. Throws the exceptions of the executor. Throws Infeasible if the plan blocks.
void execute_or_throw(const PlanExecutor& executor, const Plan& plan, Sink& sink,
                      const ExecutorOptions& options);

/// If an execution ended in a deadlock, `blocking` has a value. Throws Infeasible in this case.
void require_end(const Plan& plan, const std::optional<Deadlock>& blocking);

/// Executes a checked plan. With the executor `both`, the sink receives the spans and memory events of SimGrid. Then
/// the function throws InternalError if a start or an end of a span differs between SimGrid and the replay. The message
/// names the first such span. If no link is shared and at most `most_for_simgrid` actions are executed, the times must
/// be exactly equal. In all other cases they may differ by 1e-9 of the makespan. Throws the exceptions of the
/// executors. Throws Infeasible if the plan blocks. SimGrid can run only once per process.
void execute(const Plan& plan, Executor executor, Sink& sink, const ExecutorOptions& options);

}  // namespace sluice
