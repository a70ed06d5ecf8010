// Executes a plan with the executor that the caller passes, and counts the actions that a run executes. This file
// itself refers to no executor. So a program that only counts actions need not link an executor.
#include "base/error.hpp"
#include "execute/shortage.hpp"
#include "run/executor.hpp"

namespace sluice {

std::int64_t executions_of(const Plan& plan) {
  auto total = static_cast<std::int64_t>(plan.actions.size()) - (plan.body_end - plan.body_begin);
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) total += plan.executions_of(a);
  return total;
}

void execute_or_throw(const PlanExecutor& executor, const Plan& plan, Sink& sink,
                      const ExecutorOptions& options) {
  require_end(plan, executor.execute(plan, sink, options).blocking);
}

void require_end(const Plan& plan, const std::optional<Deadlock>& blocking) {
  if (blocking) throw Infeasible(describe(plan, *blocking), shortage_of(plan, *blocking));
}

}  // namespace sluice
