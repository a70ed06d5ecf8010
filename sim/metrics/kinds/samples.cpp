// Metrics that say how many samples were completed, and how fast.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue throughput(const Totals& totals) {
  if (totals.sums().samples == 0) return SummaryValue::none("no sample was completed");
  if (totals.makespan() == 0) return SummaryValue::none("the run took no time");
  return SummaryValue::of(totals.sums().samples / totals.makespan());
}

}  // namespace

extern const Metric samples_metric = {
    .name = "samples",
    .unit = "sample",
    .summary = "The number of samples whose answer is complete.",
    .details =
        "Each action of a plan says how many samples are complete when it ends (`samples_done`). The metric adds up "
        "these numbers over all executions of actions. Use this metric to see how far an "
        "interrupted run has come.",
    .better = Metric::Better::higher,
    .value = [](const Totals& totals) { return SummaryValue::of(totals.sums().samples); },
};

extern const Metric throughput_samples_per_s_metric = {
    .name = "throughput_samples_per_s",
    .unit = "sample/s",
    .summary = "Samples / makespan, over all steps of the run and including the first loads.",
    .details =
        "The formula is samples / makespan_s. Use this metric if the real run has as many steps as "
        "the simulated run. In a short run, the first loads and the end of the run lower the value. "
        "For a run that goes on for a long time, use steady_throughput_samples_per_s.",
    .better = Metric::Better::higher,
    .value = throughput,
};

}  // namespace sluice
