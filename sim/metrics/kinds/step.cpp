// The metric step_s: the time of a step in the steady state.
#include "metrics/metric.hpp"
#include "metrics/steady.hpp"

namespace sluice {
namespace {

SummaryValue step(const Totals& totals) {
  const Plan& plan = totals.plan();
  if (plan.iterations == 0) return SummaryValue::none("the plan has no body");
  if (const auto seconds = steady_step_s(totals)) return SummaryValue::of(*seconds);
  if (!totals.last_complete()) return SummaryValue::none("the last iteration was not reached");
  return SummaryValue::none("the run has too few steps, and no further step was simulated");
}

}  // namespace

extern const Metric step_s_metric = {
    .name = "step_s",
    .unit = "s",
    .summary =
        "Time of one step in the steady state of this plan, without the first loads and without the end of the run. "
        "To measure this time, a run with more steps is simulated.",
    .details =
        "Use this metric to compare policies for a long run: the value does not depend on the "
        "number of steps. The makespan also contains the first loads and the end of the run. Both "
        "are a larger share of a short run than of a long run.",
    .better = Metric::Better::lower,
    .value = step,
};

}  // namespace sluice
