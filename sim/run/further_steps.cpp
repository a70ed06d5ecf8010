#include "run/further_steps.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/arithmetic/unhindered.hpp"
#include "metrics/steady.hpp"
#include "run/executor.hpp"

namespace sluice {
namespace {

/// The longer run (further_steps.hpp) has this number of steps. After so many steps, the seconds of a step hardly
/// change any more. If the steps become alike, the replay executes only a few of the 64 steps.
constexpr std::int64_t many_steps = 64;
/// The longer run executes at most this number of actions. But if the run that the question asks for executes more
/// actions, the longer run may execute as many as that run. So if a step has many actions, the longer run has fewer
/// than `many_steps` steps. The longer run always has at least two steps.
constexpr std::int64_t many_executions = 300'000;

std::int64_t affordable_steps(const Plan& plan, std::int64_t asked) {
  const std::int64_t executions = executions_of(plan);
  const std::int64_t of_a_step = std::max<std::int64_t>(1, executions / asked);
  return std::clamp<std::int64_t>(std::max(many_executions, executions) / of_a_step, 2, many_steps);
}

/// Returns the number of iterations of the longer run. Returns nullopt if two things hold: this run would have fewer
/// than `many_steps` steps, and the question asks for as many steps or more. Also returns nullopt if the number of
/// iterations would be too large for an integer.
std::optional<std::int64_t> iterations_to_run(const Plan& plan) {
  const std::int64_t per_step = plan.iterations_per_step;
  if (plan.body_begin == plan.body_end || plan.iterations < per_step) return {};
  if (per_step > std::numeric_limits<std::int64_t>::max() / many_steps) return {};
  const std::int64_t asked = plan.iterations / per_step;
  const std::int64_t steps = affordable_steps(plan, asked);
  if (steps < many_steps && asked >= steps) return {};
  return per_step * steps;
}

/// Returns the seconds of the iterations of a step in the longer run, which has up to `many_steps` steps. The caller
/// must have set the iterations of `tables.plan` to those of the longer run.
std::optional<double> step_of_longer(const PlanTables& tables) {
  const Plan& plan = tables.plan;
  if (const std::optional<double> seconds = unhindered_iteration_s(tables))
    return *seconds * static_cast<double>(plan.iterations_per_step) /
           static_cast<double>(plan.steps_per_iteration);
  StepEnds ends(plan);
  const ReplayResult result = replay(tables, ends, {.until_period = true});
  if (result.blocking) return {};
  if (!result.period) return steady_step_s(plan, ends);
  return result.period->seconds * static_cast<double>(plan.iterations_per_step) /
         static_cast<double>(result.period->iterations * plan.steps_per_iteration);
}

/// Records when the computations of the rounds of a step end, and when its updates end.
class UpdateEnds final : public Sink {
 public:
  explicit UpdateEnds(const Plan& plan) : plan_(plan) {}
  void span(const Span& span) override {
    const Action& action = plan_.actions[span.action];
    if (plan_.streams[action.stream].kind != StreamKind::compute) return;
    if (action.kind == ActionKind::update)
      updates_ = std::max(updates_, span.end);
    else if (plan_.section_of(span.action) == Section::body)
      rounds_ = std::max(rounds_, span.end);
  }
  void memory(const MemoryEvent&) override {}
  void repeat(const Repetition& r) override {
    for (std::size_t i = 0; i < r.spans.size(); ++i) span(r.span(i, r.times));
  }

  double seconds_between() const { return std::max(0.0, updates_ - rounds_); }

 private:
  const Plan& plan_;
  double rounds_ = 0, updates_ = 0;
};

/// Returns the seconds from the last computation of the rounds of a step to its last update, if all updates follow the
/// rounds. They contain waits, such as those for the sums of gradients. Returns 0 for all other plans, and nullopt if
/// the run blocks.
std::optional<double> seconds_after_rounds(const PlanTables& tables) {
  if (!updates_follow_iterations(tables.plan)) return 0;
  UpdateEnds ends(tables.plan);
  if (replay(tables, ends).blocking) return {};
  return ends.seconds_between();
}

/// Changes the number of iterations of a plan. The destructor restores the number.
class IterationOverride {
 public:
  IterationOverride(Plan& plan, std::int64_t iterations)
      : plan_(plan), own_iterations_(std::exchange(plan.iterations, iterations)) {}
  ~IterationOverride() { plan_.iterations = own_iterations_; }
  IterationOverride(const IterationOverride&) = delete;
  IterationOverride& operator=(const IterationOverride&) = delete;

 private:
  Plan& plan_;
  std::int64_t own_iterations_;
};

}  // namespace

std::optional<double> further_step_s(const Plan& plan) {
  const std::optional<std::int64_t> iterations = iterations_to_run(plan);
  if (!iterations) return {};
  Plan longer = plan;
  return further_step_s(longer, PlanTables(longer));
}

std::optional<double> further_step_s(Plan& plan, const PlanTables& tables) {
  if (&tables.plan != &plan) throw InternalError("these are the tables of another plan");
  const std::optional<std::int64_t> iterations = iterations_to_run(plan);
  if (!iterations) return {};
  const std::optional<double> after_s = seconds_after_rounds(tables);
  if (!after_s) return {};
  const double work = work_of_step(plan);
  const IterationOverride longer(plan, *iterations);
  std::optional<double> seconds = step_of_longer(tables);
  if (seconds) *seconds = *seconds * work + *after_s;
  return seconds;
}

}  // namespace sluice
