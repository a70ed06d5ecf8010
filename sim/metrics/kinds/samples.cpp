// samples: how many were done, how fast, and how long one step takes.
#include "metrics/metric.hpp"

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

/// In the steady state the second half of the iterations, from the middle one's completion to the
/// last one's, in which neither the filling of the pipeline nor its end plays a part.
SummaryValue step(const Totals& totals) {
  const Plan& plan = totals.plan();
  const auto steps = static_cast<double>(plan.steps_per_iteration);
  if (plan.iterations == 0) return SummaryValue::none("the plan has no body");
  if (!totals.last_complete()) return SummaryValue::none("the last iteration was not reached");
  if (plan.iterations == 1) return SummaryValue::of(totals.makespan() / steps);
  if (!totals.middle_complete())
    return SummaryValue::none("nothing runs in the iteration in the middle");
  const std::int64_t last = plan.iterations - 1, middle = last / 2;
  return SummaryValue::of((*totals.last_complete() - *totals.middle_complete()) /
                          static_cast<double>(last - middle) / steps);
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
        "iteration; of a single iteration, the makespan.",
    .source = "definition",
    .better = Metric::Better::lower,
    .value = step,
};

}  // namespace sluice
