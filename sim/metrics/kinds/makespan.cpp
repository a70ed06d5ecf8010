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
    .details =
        "It is the latest moment at which an action has ended and the data that it moves have arrived. The first loads "
        "and the end of the run count as well, so that a run of more steps takes longer. Use it to compare runs of the "
        "same number of steps, and step_s to compare plans for a run that goes on for a long time.",
    .source = "definition",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::lower,
    .value = makespan,
};

}  // namespace sluice
