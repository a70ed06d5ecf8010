// Chooses who executes a plan: SimGrid, which is the reference; the replay, which is faster; or
// both, to compare them.
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

/// "auto", "simgrid", "replay", "both". The value of an Executor is an index into this list.
const std::vector<std::string>& executor_names();
std::string_view name_of(Executor executor);
/// Throws UsageError.
Executor executor_named(const std::string& name);

/// Up to this number of executed actions `automatic` means SimGrid.
inline constexpr std::int64_t most_for_simgrid = 100'000;
/// The number of executions of prologue, body x n and epilogue, without those that are dropped.
std::int64_t executions_of(const Plan& plan);
/// What `automatic` means for this plan; any other executor stays as it is.
Executor resolved(Executor executor, const Plan& plan);

/// Executes a checked plan. Throws what the executor throws, and Infeasible where the plan blocks.
void execute_or_throw(const PlanExecutor& executor, const Plan& plan, Sink& sink,
                      const ExecutorOptions& options);

/// Throws Infeasible where an execution blocked.
void require_end(const Plan& plan, const std::optional<Deadlock>& blocking);

/// Executes a checked plan. With `both` the sink receives SimGrid's execution, and the first span
/// whose start or end differs by more than 1e-9 of the makespan is named in an InternalError.
/// Throws what the executors throw, and Infeasible where the plan blocks. SimGrid can run only once
/// per process.
void execute(const Plan& plan, Executor executor, Sink& sink, const ExecutorOptions& options);

}  // namespace sluice
