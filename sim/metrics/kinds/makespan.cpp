// makespan: the time from the start of the run until all actions have ended and all data have arrived.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue makespan(const Totals& totals) {
  return SummaryValue::of(totals.makespan());
}

}  // namespace

extern const Metric makespan_s_metric = {
    .name = "makespan_s",
    .unit = "s",
    .summary = "Time from the start of the run until everything has ended and arrived.",
    .source = "definition",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::lower,
    .value = makespan,
};

}  // namespace sluice
