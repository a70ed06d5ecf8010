// lower_bound: every execution of this plan takes at least this time. bound_by: the resource that is the reason for
// this bound.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue bound(const Totals& totals) {
  return SummaryValue::of(totals.bound().seconds);
}

SummaryValue ratio(const Totals& totals) {
  if (!totals.complete()) return SummaryValue::none("the run did not reach its end");
  if (totals.makespan() == 0) return SummaryValue::none("the run took no time");
  return SummaryValue::of(totals.bound().seconds / totals.makespan());
}

SummaryValue resource(const Totals& totals) {
  return SummaryValue::of(totals.bound().resource);
}

}  // namespace

extern const Metric lower_bound_s_metric = {
    .name = "lower_bound_s",
    .unit = "s",
    .summary =
        "The makespan below which no execution of this plan can get. It is the time of the busiest stream or link with "
        "what must come before and after, or of the longest chain of actions.",
    .details =
        "For each stream it adds up the shortest time before its first action, the seconds of all its actions, and the "
        "shortest time after its last action. For each link it does the same with the bytes of the link / its "
        "bandwidth. The bound is the greatest of these sums, or the longest chain of actions that wait for each other "
        "if that is longer. Waits for memory are left out, because they can only delay actions. The comment in the "
        "source has the proof.",
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::neither,
    .value = bound,
};

extern const Metric bound_ratio_metric = {
    .name = "bound_ratio",
    .unit = "1",
    .summary = "Lower bound / makespan; at 1 the plan cannot be executed faster.",
    .details =
        "It says how good the execution of a plan is. A low value means that actions of the plan wait for each other, "
        "so that another order or another policy may be faster.",
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::higher,
    .value = ratio,
};

extern const Metric bound_by_metric = {
    .name = "bound_by",
    .unit = "",
    .summary =
        "The stream or link that explains the lower bound. Its own work is at least half of the bound, and takes, with "
        "what must come before and after, as long as the bound or up to 1 % less. Among several it is the one that "
        "works longest. If there is none, the value is dependencies: several streams or links must work one after the "
        "other.",
    .details =
        "Use it to see what to improve. If it names a compute stream, a faster device helps; if it names a link or a "
        "copy engine, a faster link or fewer bytes help. If it says dependencies, more overlap between streams helps.",
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::neither,
    .value = resource,
};

}  // namespace sluice
