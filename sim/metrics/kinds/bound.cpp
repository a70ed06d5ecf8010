// lower_bound: a makespan that no execution of this plan can be faster than, and the resource that
// is the reason for it.
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
        "The makespan below which no execution of this plan can get: its busiest stream or link "
        "with what must come before and after, or its longest chain of actions.",
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::neither,
    .value = bound,
};

extern const Metric bound_ratio_metric = {
    .name = "bound_ratio",
    .unit = "1",
    .summary = "Lower bound / makespan; at 1 the plan cannot be executed faster.",
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::higher,
    .value = ratio,
};

extern const Metric bound_by_metric = {
    .name = "bound_by",
    .unit = "",
    .summary =
        "The stream or link that explains the lower bound: with what must come before and after, "
        "its work takes that long or up to 1 % less, and its own work is at least half of that; "
        "among several the one that works longest. Or dependencies: what several of them must do "
        "one after the other.",
    .source = "metrics/bound.cpp",
    .example = "sluice run alexnet_x200 --json",
    .better = Metric::Better::neither,
    .value = resource,
};

}  // namespace sluice
