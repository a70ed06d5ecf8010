// Metrics that say how long the compute streams were busy, and how well they were used.
#include <algorithm>

#include "metrics/metric.hpp"

namespace sluice {
namespace {

std::size_t compute_streams(const Plan& plan) {
  std::size_t count = 0;
  for (const Stream& stream : plan.streams) count += stream.kind == StreamKind::compute;
  return count;
}

SummaryValue utilisation(const Totals& totals) {
  const std::size_t streams = compute_streams(totals.plan());
  if (streams == 0) return SummaryValue::none("the plan has no compute stream");
  if (totals.makespan() == 0) return SummaryValue::none("the run took no time");
  return SummaryValue::of(totals.sums().compute_s /
                          (totals.makespan() * static_cast<double>(streams)));
}

SummaryValue bubble(const Totals& totals) {
  const Plan& plan = totals.plan();
  double greatest = 0;
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    const Totals::Stream& stream = totals.streams()[s];
    if (plan.streams[s].kind == StreamKind::compute && stream.spans > 0)
      greatest = std::max(greatest, stream.last_end - stream.first_start);
  }
  if (greatest == 0) return SummaryValue::none("nothing was computed");
  const double mean = totals.sums().compute_s / static_cast<double>(compute_streams(plan));
  // Without max(), rounding could make the result negative.
  return SummaryValue::of(std::max(0.0, 1 - mean / greatest));
}

}  // namespace

extern const Metric compute_s_metric = {
    .name = "compute_s",
    .unit = "s",
    .summary = "Busy time of all compute streams, including recomputation.",
    .details =
        "The metric adds up the seconds of all actions that the compute streams executed. For example, two devices "
        "that compute for 1 s at the same time add 2 s. A computation that reads over a link counts from its "
        "start to its end. Use this metric to compare the work of plans. "
        "The metric compute_utilisation says how well the devices are used.",
    .value = [](const Totals& totals) { return SummaryValue::of(totals.sums().compute_s); },
};

extern const Metric compute_utilisation_metric = {
    .name = "compute_utilisation",
    .unit = "1",
    .summary = "The busy time of the compute streams / (makespan x number of compute streams).",
    .details =
        "The value is 1 if all compute streams are busy from the start to the end of the run. A low value with a "
        "high exposed_transfer_s means that links limit the run. A low value with a low exposed_transfer_s means "
        "that devices wait for each other.",
    .better = Metric::Better::higher,
    .value = utilisation,
};

extern const Metric bubble_fraction_metric = {
    .name = "bubble_fraction",
    .unit = "1",
    .summary =
        "1 - (mean busy time of the compute streams) / (longest time of a compute stream from its first start to its "
        "last end).",
    .details =
        "The value is the share of time in which the devices of a pipeline do not compute. At the beginning and "
        "the end of the pipeline, devices wait for each other. Devices also wait for transfers. With one "
        "device, the value is the idle share of the time from its first computation to its last "
        "computation.",
    .source = "pipeline bubble: Huang et al., GPipe (2019), section 2.3",
    .better = Metric::Better::lower,
    .value = bubble,
};

}  // namespace sluice
