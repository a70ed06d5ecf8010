// samples: how many were done, how fast, and how long one step takes.
#include <algorithm>
#include <vector>

#include "metrics/metric.hpp"
#include "plan/tables.hpp"

namespace sluice {
namespace {

SummaryValue samples(const Totals& totals) {
  return SummaryValue::of(totals.sums().samples);
}

SummaryValue throughput(const Totals& totals) {
  if (totals.sums().samples == 0) return SummaryValue::none("no sample was completed");
  if (totals.makespan() == 0) return SummaryValue::none("the run took no time");
  return SummaryValue::of(totals.sums().samples / totals.makespan());
}

/// What one iteration asks of the busiest stream or link, s. Over many iterations none can take
/// less: a stream executes one action at a time, and a link carries at most its bandwidth.
double busiest_in_an_iteration(const Plan& plan) {
  std::vector<double> streams(plan.streams.size(), 0), links(plan.links.size(), 0);
  double most = 0;
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    const Action& action = plan.actions[a];
    if (plan.executions_of(a) == 0) continue;
    most = std::max(most, streams[action.stream] += seconds_alone(plan, action));
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links)
        most = std::max(
            most, links[link] += static_cast<double>(flow.bytes) / plan.links[link].bandwidth);
  }
  return most;
}

/// In the steady state the second half of the steps, from the middle one's completion to the last
/// one's: the filling of the pipeline plays no part there. Its end does where steps are few: the
/// last ones no longer load for those that would follow, and end sooner than in the steady state,
/// but not sooner than what each asks of the busiest stream or link.
SummaryValue step(const Totals& totals) {
  const Plan& plan = totals.plan();
  const auto steps = static_cast<double>(plan.steps_per_iteration);  // of one iteration
  const std::int64_t per_step = plan.iterations_per_step;
  if (plan.iterations == 0) return SummaryValue::none("the plan has no body");
  if (!totals.last_complete()) return SummaryValue::none("the last iteration was not reached");
  if (plan.iterations == per_step) return SummaryValue::of(totals.makespan() / steps);
  if (!totals.middle_complete())
    return SummaryValue::none("nothing runs in the iteration in the middle");
  const std::int64_t between = (plan.iterations - 1 - totals.middle()) / per_step;
  const double each =
      (*totals.last_complete() - *totals.middle_complete()) / static_cast<double>(between);
  const double busiest = static_cast<double>(per_step) * busiest_in_an_iteration(plan);
  return SummaryValue::of(std::max(each, busiest) / steps);
}

}  // namespace

extern const Metric samples_metric = {
    .name = "samples",
    .unit = "sample",
    .summary = "Samples whose answer is complete.",
    .source = "definition",
    .better = Metric::Better::higher,
    .value = samples,
};

extern const Metric throughput_samples_per_s_metric = {
    .name = "throughput_samples_per_s",
    .unit = "sample/s",
    .summary = "Samples / makespan.",
    .source = "definition",
    .better = Metric::Better::higher,
    .value = throughput,
};

extern const Metric step_s_metric = {
    .name = "step_s",
    .unit = "s",
    .summary =
        "Time of one step in the steady state: between the completions of the middle and the last "
        "step, and no less than the work of one step on its busiest stream or link; of a single "
        "step, the makespan.",
    .source = "definition",
    .better = Metric::Better::lower,
    .value = step,
};

}  // namespace sluice
