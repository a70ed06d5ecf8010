// Who executes a plan: SimGrid, which is the reference, the replay, which is faster, or both, one
// against the other.
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

/// "auto", "simgrid", "replay", "both": a number of the enum is a place in this list.
const std::vector<std::string>& executor_names();
std::string_view name_of(Executor executor);
/// Throws UsageError.
Executor executor_named(const std::string& name);

/// Up to so many executed actions `automatic` means SimGrid.
inline constexpr std::int64_t most_for_simgrid = 100'000;
/// Prologue, body x n and epilogue, dropped executions left out.
std::int64_t executions_of(const Plan& plan);
/// What `automatic` means for this plan; any other is itself.
Executor resolved(Executor executor, const Plan& plan);

/// Executes a checked plan. Throws what the executor does, and Infeasible where it blocks.
void execute_or_throw(const PlanExecutor& executor, const Plan& plan, Sink& sink,
                      const ExecutorOptions& options);

/// Throws Infeasible where an execution blocked.
void require_end(const Plan& plan, const std::optional<Deadlock>& blocking);

/// Executes a checked plan. `both` hands SimGrid's execution to the sink, and throws InternalError
/// naming the first span whose start or end differs by more than 1e-9 of the makespan. Throws what
/// the executors do; Infeasible where it blocks. SimGrid can run once in a process.
void execute(const Plan& plan, Executor executor, Sink& sink, const ExecutorOptions& options);

}  // namespace sluice
