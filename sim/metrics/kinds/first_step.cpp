// The metric first_step_s: the time until the first step is complete, including the first loads.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue first_step(const Totals& totals) {
  if (totals.plan().iterations == 0) return SummaryValue::none("the plan has no body");
  if (!totals.first_complete()) return SummaryValue::none("the first step was not completed");
  return SummaryValue::of(*totals.first_complete());
}

}  // namespace

extern const Metric first_step_s_metric = {
    .name = "first_step_s",
    .unit = "s",
    .summary =
        "Time from the start of the run until the first step is complete, including the loads "
        "before the first step.",
    .details =
        "After this time, a user has the answer of the first step: all actions of the step have "
        "ended, and their data have arrived. Some actions of the first iterations work for later "
        "steps. The metric does not wait for these actions. It has no value if the plan has no body.",
    .better = Metric::Better::lower,
    .value = first_step,
};

}  // namespace sluice
