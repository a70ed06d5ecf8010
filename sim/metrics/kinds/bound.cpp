// The metrics lower_bound_s, bound_ratio and bound_by. No execution of the plan takes less time than lower_bound_s.
// bound_ratio is lower_bound_s / makespan. bound_by is the stream or link that is the reason for the bound.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue ratio(const Totals& totals) {
  if (!totals.complete()) return SummaryValue::none("the run did not reach its end");
  if (totals.makespan() == 0) return SummaryValue::none("the run took no time");
  return SummaryValue::of(totals.bound().seconds / totals.makespan());
}

}  // namespace

extern const Metric lower_bound_s_metric = {
    .name = "lower_bound_s",
    .unit = "s",
    .summary =
        "A lower bound of the makespan of every execution of this plan. The bound is the greater "
        "of two times. One is the time of the longest chain of actions. The other is the work of "
        "the busiest stream or link, together with the actions that must come before and after "
        "this work.",
    .details =
        "Each stream gives a sum: the shortest time before its first action + the seconds of all "
        "its actions + the shortest time after its last action. Each link gives a similar sum, "
        "with (bytes that cross the link) / bandwidth in place of the seconds of the actions. The "
        "bound is the greatest of all these sums and of the time of the longest chain of actions "
        "that wait for each other. Waits for memory are ignored, because these waits can only "
        "delay actions. A comment in sim/metrics/bound.cpp has the proof.",
    .source = "metrics/bound.cpp",
    .value = [](const Totals& totals) { return SummaryValue::of(totals.bound().seconds); },
};

extern const Metric bound_ratio_metric = {
    .name = "bound_ratio",
    .unit = "1",
    .summary = "Lower bound / makespan; if the ratio is 1, the plan cannot be executed faster.",
    .details =
        "The ratio says how good the execution of a plan is. A low value means that actions of the plan wait for each "
        "other. A plan with another order of actions, or a plan of another policy, may be faster.",
    .source = "metrics/bound.cpp",
    .better = Metric::Better::higher,
    .value = ratio,
};

extern const Metric bound_by_metric = {
    .name = "bound_by",
    .unit = "",
    .summary =
        "The stream or link that explains the lower bound. The own work of this stream or link is "
        "at least half of the bound. Together with the actions that must come before and after it, "
        "this work takes at least 99 % of the bound. If several streams or links qualify, the "
        "value is the stream or link that works longest. If no stream or link qualifies, the value "
        "is dependencies: several streams or links must work one after the other.",
    .details =
        "Use this metric to see what to improve. If the value is a compute stream, a faster device "
        "makes the run faster. If the value is a link or a copy engine, a faster link or fewer "
        "bytes make the run faster. If the value is `dependencies`, more overlap between streams "
        "makes the run faster.",
    .source = "metrics/bound.cpp",
    .value = [](const Totals& totals) { return SummaryValue::of(totals.bound().resource); },
};

}  // namespace sluice
