// Metrics of training: the cost of a sample as a multiple of its cost in inference, and the bytes of offloaded
// activations.
#include <algorithm>

#include "metrics/metric.hpp"

namespace sluice {
namespace {

double seconds_of(const Totals& totals, ActionKind kind) {
  double seconds = 0;
  for (std::size_t a = 0; a < totals.actions().size(); ++a)
    if (totals.plan().actions[a].kind == kind) seconds += totals.actions()[a].seconds.value();
  return seconds;
}

bool trains(const Plan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(),
                     [](const Action& action) { return record_of(action.kind).adds_gradients; });
}

/// Adds up the bytes of saved activations. A byte that is saved twice counts twice.
SummaryValue offloaded(const Totals& totals) {
  const Plan& plan = totals.plan();
  double bytes = 0;
  for (std::size_t a = 0; a < totals.actions().size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.kind != ActionKind::save) continue;
    for (const Flow& flow : action.flows)
      if (flow.tensor != none && plan.tensors[flow.tensor].tensor_class == TensorClass::activation)
        bytes +=
            static_cast<double>(totals.actions()[a].executions) * static_cast<double>(flow.bytes);
  }
  return SummaryValue::of(bytes);
}

SummaryValue over_inference(const Totals& totals) {
  if (!trains(totals.plan())) return SummaryValue::none("nothing is trained");
  const double forward = seconds_of(totals, ActionKind::forward);
  if (forward == 0) return SummaryValue::none("the forward passes took no time");
  // The time in which a stream waits for the first load of the weights does not count.
  double seconds = 0;
  for (std::size_t s = 0; s < totals.streams().size(); ++s)
    if (totals.plan().streams[s].kind == StreamKind::compute)
      seconds += totals.makespan() - totals.streams()[s].filling_s.value();
  return SummaryValue::of(seconds / forward);
}

}  // namespace

extern const Metric offloaded_bytes_metric = {
    .name = "offloaded_bytes",
    .unit = "byte",
    .summary = "Bytes of activations that were saved from a device to another memory.",
    .details =
        "The metric adds up the activations that transfers of the kind `save` move. A byte that is saved twice "
        "counts twice. Loads do not count. Use this metric to see how much a plan offloads. "
        "The metric recompute_s says how much a plan recomputes.",
    .source = "Rhu et al., vDNN (2016), section 3",
    .example = "sluice run alexnet_x200_training --json",
    .better = Metric::Better::lower,
    .value = offloaded,
};

extern const Metric training_over_inference_metric = {
    .name = "training_over_inference",
    .unit = "1",
    .summary =
        "The cost of a sample in training, as a multiple of its cost in inference. The value is "
        "the time of the compute streams, "
        "busy or idle, divided by the busy time of the forward passes without recomputation. The "
        "time for which the streams wait while the prologue loads weights does not count.",
    .details =
        "For most networks, the backward pass takes about twice the FLOP of the forward pass. So a "
        "value near 3 means that little time is lost. Recomputation, the update of the weights, "
        "and waits for transfers or for other devices make the value greater than 3.",
    .source = "AlexNet on one card, \"2.1x the cost of inference\"",
    .example = "sluice run alexnet_x200_training --json",
    .better = Metric::Better::lower,
    .value = over_inference,
};

}  // namespace sluice
