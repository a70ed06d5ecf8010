// question_bound: how much faster no plan could be, for this model, workload and machine.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

constexpr const char* no_question =
    "the run was of a plan, which does not name the model and the machine that it is for";

SummaryValue bound(const Totals& totals) {
  if (!totals.question_bound()) return SummaryValue::none(no_question);
  return SummaryValue::of(*totals.question_bound());
}

SummaryValue ratio(const Totals& totals) {
  if (!totals.question_bound()) return SummaryValue::none(no_question);
  if (!totals.complete()) return SummaryValue::none("the run did not reach its end");
  if (totals.makespan() == 0) return SummaryValue::none("the run took no time");
  return SummaryValue::of(*totals.question_bound() / totals.makespan());
}

}  // namespace

extern const Metric question_bound_s_metric = {
    .name = "question_bound_s",
    .unit = "s",
    .summary =
        "No plan for this model, workload and machine is faster that computes on the devices that "
        "the policy takes, in their first memory: computation, the bytes that must cross the "
        "host's links, the first loads, and what the memory cannot hold yet when the last sample "
        "needs it.",
    .source = "scenario/question_bound.cpp",
    .better = Metric::Better::neither,
    .value = bound,
};

extern const Metric question_ratio_metric = {
    .name = "question_ratio",
    .unit = "1",
    .summary = "Bound of the question / makespan: 1 is as fast as any plan could be.",
    .source = "scenario/question_bound.cpp",
    .better = Metric::Better::higher,
    .value = ratio,
};

}  // namespace sluice
