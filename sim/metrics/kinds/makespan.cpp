// The metric makespan_s: the time from the start of the run until all actions have ended and all data have arrived.
#include "metrics/metric.hpp"

namespace sluice {

extern const Metric makespan_s_metric = {
    .name = "makespan_s",
    .unit = "s",
    .summary =
        "Time from the start of the run until all actions have ended and all data have arrived.",
    .details =
        "The makespan includes the first loads and the end of the run, and grows with "
        "the number of steps. Use makespan_s to compare runs with equal numbers of steps. Use "
        "step_s to compare plans for a run that goes on for a long time.",
    .better = Metric::Better::lower,
    .value = [](const Totals& totals) { return SummaryValue::of(totals.makespan()); },
};

}  // namespace sluice
