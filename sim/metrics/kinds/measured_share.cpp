// The metric measured_share: the share of the seconds of computation that rests on measurements.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue share(const Totals& totals) {
  const double measured = totals.sums().measured_s;
  if (!(measured > 0)) return SummaryValue::none("no part of the computation's time was measured");
  return SummaryValue::of(measured / totals.sums().compute_s);
}

}  // namespace

extern const Metric measured_share_metric = {
    .name = "measured_share",
    .unit = "1",
    .summary =
        "Seconds of computation that rest on measurements / busy time of the compute streams.",
    .details =
        "Use this metric to see to what degree an answer rests on measurements. The value 1 means "
        "that all seconds of "
        "computation were measured or interpolated between measurements. The value 0 means that all seconds come "
        "from a formula.",
    .example =
        "sluice run alexnet_resident 'cost={model: measured, profile: mine.csv, outside: roofline}' --json",
    .value = share,
};

}  // namespace sluice
