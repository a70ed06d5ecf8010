#include "run/further_steps.hpp"

#include <algorithm>
#include <limits>

#include "execute/arithmetic/replay.hpp"
#include "metrics/steady.hpp"
#include "run/executor.hpp"

namespace sluice {
namespace {

/// So many steps show how they go on. The replay needs to see few of them where they repeat.
constexpr std::int64_t many_steps = 64;
/// Of large steps fewer are run, within as many executed actions as this, or as were asked; two
/// at the least.
constexpr std::int64_t many_executions = 300'000;

std::int64_t affordable_steps(const Plan& plan, std::int64_t asked) {
  const std::int64_t executions = executions_of(plan);
  const std::int64_t of_a_step = std::max<std::int64_t>(1, executions / asked);
  return std::clamp<std::int64_t>(std::max(many_executions, executions) / of_a_step, 2, many_steps);
}

}  // namespace

std::optional<double> further_step_s(const Plan& plan) {
  const std::int64_t per_step = plan.iterations_per_step;
  if (plan.body_begin == plan.body_end || plan.iterations < per_step) return {};
  if (per_step > std::numeric_limits<std::int64_t>::max() / many_steps) return {};
  const std::int64_t asked = plan.iterations / per_step;
  const std::int64_t steps = affordable_steps(plan, asked);
  if (steps < many_steps && asked >= steps) return {};  // the run itself shows more of them
  Plan longer = plan;
  longer.iterations = per_step * steps;
  Totals totals(longer);
  const ReplayResult result = replay(longer, totals);
  if (result.blocking) return {};
  if (!result.period) return steady_step_s(totals);
  return result.period->seconds * static_cast<double>(longer.iterations_per_step) /
         static_cast<double>(result.period->iterations * longer.steps_per_iteration);
}

}  // namespace sluice
