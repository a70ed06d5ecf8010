// The metrics question_bound_s and question_ratio. No plan for this model, workload and machine takes less time than
// question_bound_s. question_ratio is question_bound_s / makespan.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

constexpr const char* no_question =
    "the run was of a plan file, which does not name its model and machine";

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
        "A lower bound of the makespan of every plan for this model, workload and machine. The "
        "plans must compute on the devices of the policy, in the first memory of these devices. "
        "The bound counts computation, the bytes that must cross the "
        "host's links, the first loads, and the loads of weights that must wait because the memory is full.",
    .details =
        "This bound is the same for every plan, with any cut and any order of actions. If the policy "
        "may place tensors in two memories of a device, the bound counts computation and the bytes that must "
        "cross the host's links, and holds for plans that use both memories. The metric "
        "lower_bound_s depends on the plan instead. If the run is near the bound, another policy "
        "on these devices is not worth trying. For a run of a plan file, the metric has no value, "
        "because a plan file does not name its model and machine.",
    .source = "scenario/question_bound.cpp",
    .value = bound,
};

extern const Metric question_ratio_metric = {
    .name = "question_ratio",
    .unit = "1",
    .summary = "Bound of the question / makespan; if the ratio is 1, no plan is faster.",
    .details =
        "The ratio says how good the plan is. Another policy, cut or strategy can save at most the "
        "share 1 - ratio of the makespan. The possible saving may be smaller, because the bound "
        "ignores some waits.",
    .source = "scenario/question_bound.cpp",
    .better = Metric::Better::higher,
    .value = ratio,
};

}  // namespace sluice
