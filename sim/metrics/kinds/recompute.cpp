// Metrics of recomputation, in which activations are computed a second time: the seconds that it
// takes.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue overhead(const Totals& totals) {
  const double once = totals.sums().compute_s - totals.sums().recompute_s;
  if (!(once > 0)) return SummaryValue::none("nothing was computed apart from recomputation");
  return SummaryValue::of(totals.sums().recompute_s / once);
}

}  // namespace

extern const Metric recompute_s_metric = {
    .name = "recompute_s",
    .unit = "s",
    .summary = "Busy time of the compute streams that is recomputation.",
    .details =
        "The metric adds up the seconds of all actions of the kind `recompute`. Such an action repeats "
        "forward computations whose activations were dropped before the backward pass. These "
        "seconds are a part of compute_s. Use recompute_overhead to compare recomputation with the other "
        "computation.",
    .example = "sluice run alexnet_x200_training --json",
    .better = Metric::Better::lower,
    .value = [](const Totals& totals) { return SummaryValue::of(totals.sums().recompute_s); },
};

extern const Metric recompute_overhead_metric = {
    .name = "recompute_overhead",
    .unit = "1",
    .summary = "Seconds of recomputation / seconds of the computation that is not recomputation.",
    .details =
        "A value of 0.33 means that recomputation adds a third to the seconds of the other "
        "computation. Strategies for fates spend this time to save memory.",
    .source = "Chen et al., Training Deep Nets with Sublinear Memory Cost (2016)",
    .example = "sluice run alexnet_x200_training --json",
    .better = Metric::Better::lower,
    .value = overhead,
};

}  // namespace sluice
