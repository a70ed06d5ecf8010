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
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::neither,
    .value = resource,
};

}  // namespace sluice
