// The metric steady_throughput_samples_per_s: the number of samples per second in the steady state.
#include "metrics/metric.hpp"
#include "metrics/steady.hpp"

namespace sluice {
namespace {

SummaryValue steady_throughput(const Totals& totals) {
  const std::optional<double> seconds = steady_step_s(totals);
  if (!seconds) return SummaryValue::none("too few steps ran, and no further step was simulated");
  if (*seconds == 0) return SummaryValue::none("a step takes no time");
  const double samples = samples_of_step(totals.plan());
  if (samples == 0) return SummaryValue::none("a step completes no sample");
  return SummaryValue::of(samples / *seconds);
}

}  // namespace

extern const Metric steady_throughput_samples_per_s_metric = {
    .name = "steady_throughput_samples_per_s",
    .unit = "sample/s",
    .summary = "Samples of a step / step_s: the rate in the steady state, without the first loads.",
    .details =
        "The formula is (samples that a step completes) / step_s. Use this metric for a service, or "
        "for a long training run. The difference to throughput_samples_per_s is the cost of the "
        "first loads and of the end of the run.",
    .better = Metric::Better::higher,
    .value = steady_throughput,
};

}  // namespace sluice
