// Chooses the executor of a plan. There are SimGrid, which is the reference; the replay, which is faster; and both
// together, to compare them.
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

/// Returns "auto", "simgrid", "replay", "both". The value of an Executor is an index into this list.
const std::vector<std::string>& executor_names();
std::string_view name_of(Executor executor);
/// Returns the executor of that name. Throws UsageError.
Executor executor_named(const std::string& name);

/// `automatic` means SimGrid for plans of up to this number of executed actions.
inline constexpr std::int64_t most_for_simgrid = 100'000;
/// Returns how many actions are executed in prologue, n runs of the body, and epilogue. Dropped ones are left out.
std::int64_t executions_of(const Plan& plan);
/// Returns the executor that `automatic` means for this plan. Any other executor is returned as it is.
Executor resolved(Executor executor, const Plan& plan);

/// Executes a checked plan. Throws what the executor throws, and Infeasible if the plan blocks.
void execute_or_throw(const PlanExecutor& executor, const Plan& plan, Sink& sink,
                      const ExecutorOptions& options);

/// Throws Infeasible if an execution blocked.
void require_end(const Plan& plan, const std::optional<Deadlock>& blocking);

/// Executes a checked plan. With `both`, the sink receives SimGrid's execution. If a span starts or
/// ends with a difference of more than 1e-9 of the makespan, InternalError names the first such span.
/// Throws what the executors throw, and Infeasible if the plan blocks. SimGrid can run only once per
/// process.
void execute(const Plan& plan, Executor executor, Sink& sink, const ExecutorOptions& options);

}  // namespace sluice
