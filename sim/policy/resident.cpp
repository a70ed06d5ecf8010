// Under the policy `resident`, the weights are loaded once and stay on the device. Micro-batches go through all stages,
// one after the other. While one micro-batch is computed, inputs of later micro-batches are loaded and answers of
// earlier micro-batches are saved.
//
// Suppose that no link is shared, and that the load of all weights takes W seconds. For each of M micro-batches, the
// load of the input takes I seconds, the computation C seconds, and the save of the answer O seconds. Without overlap,
// the run takes W + M (I + C + O) seconds. With overlap and two buffers, each micro-batch after the first adds only the
// longest of I, C and O. So the run takes W + I + (M - 1) max(I, C, O) + C + O seconds.
#include "planning/placement/held_once.hpp"
#include "planning/placement/placement_key.hpp"
#include "planning/training/training.hpp"
#include "planning/weights_stay.hpp"
#include "policy/policy.hpp"

namespace sluice {
namespace {

TrainingOrder training_order(const PolicyRequest& request, const Reader& parameters) {
  refuse_common_in_training(parameters);
  const CommonParameters common = read_common(request, parameters);
  TrainingOrder order{.policy = "resident", .in_flight = 1, .overlap = common.overlap};
  order.devices = {common.device.name};
  return order;
}

std::vector<Candidate> candidates_from_host(const PolicyRequest& asked, const Reader& parameters) {
  const auto held = std::make_shared<const HeldOnce>(asked);
  return training_candidates(held->request, training_order(asked, parameters),
                             {held, &held->stages});
}

Draft plan_from_host(const PolicyRequest& asked, const Reader& parameters,
                     std::optional<std::int64_t> room = {}) {
  const std::vector<Stage> stages = held_once(asked.pricing.stages);
  const PolicyRequest request = with_stages(asked, stages);
  const auto plan = [&] {
    if (!request.workload.training)
      return inference_with_weights(request, read_common(request, parameters), "resident");
    TrainingOrder order = training_order(request, parameters);
    order.room = room;
    return plan_training(request, order);
  };
  Draft draft = plan();
  draft.stages = stages;
  return draft;
}

PlansForMachine plans(const PolicyRequest& request, const Reader& parameters) {
  const CommonParameters common = read_common(request, parameters);
  PlansForMachine all;
  all.candidates = [&](const PolicyRequest& on) { return candidates_from_host(on, parameters); };
  all.plan = [&](const PolicyRequest& on) { return plan_from_host(on, parameters); };
  const auto order = [&](const PolicyRequest& on) { return training_order(on, parameters); };
  all.at_least = [order](const PolicyRequest& on) { return training_at_least(on, order(on)); };
  all.any_fates = [order](const PolicyRequest& on) { return any_fates_at_least(on, order(on)); };
  all.on = {{common.device.name}, common.overlap};
  all.takes_turns = request.strategy().name != "keep_all";
  all.fixed = {
      {"", [&](const PolicyRequest& on) { return plan_from_host(on, parameters, no_limit); }}};
  return all;
}

std::vector<Candidate> candidates(const PolicyRequest& request, const Reader& parameters) {
  return candidates_of_placements(request, parameters, "resident", plans(request, parameters));
}

std::vector<Value> alternatives(const PolicyRequest& request, const Reader& parameters) {
  return alternatives_of_placements(request, parameters, plans(request, parameters),
                                    request.workload.training
                                        ? std::vector<Value>()
                                        : alternatives_of_buffers(request, parameters));
}

Draft plan_resident(const PolicyRequest& request, const Reader& parameters) {
  return plan_of_placements(request, parameters, "resident", plans(request, parameters));
}

/// Returns the cuts that are compared. In training, every cut of a small model is among them, because the cut decides
/// which activations are kept. If there are several devices, cuts into a few stages of about equal time are among them,
/// because replicas that share a link may use it best with such a cut.
std::vector<CutChoice> cuts(const CutQuestion& question) {
  std::vector<CutChoice> between;
  if (question.devices > 1)
    for (const std::int64_t count : {2, 3, 4}) between.push_back({"balanced", "count", count});
  return cuts_with(question, between, question.mode == Mode::training ? 4 : 0);
}

std::vector<Field> parameters() {
  std::vector<Field> fields = common_parameters();
  fields.push_back(placement_field());
  return fields;
}

}  // namespace

extern const Policy resident_policy = {
    .name = "resident",
    .summary =
        "Weights are loaded once and stay on the device, and micro-batches run one after the other.",
    .details =
        "Use this policy when the weights fit into the memory of the device. The weights cross the "
        "link once. Afterwards each "
        "micro-batch only needs the load of its input, its computation and the save of its answer. "
        "With several buffers, the next input and the previous answer are transferred during "
        "computation. In training, gradients and the state of the optimizer also stay on the "
        "device, and the fates say what becomes of activations. If the "
        "weights do not fit, the scenario is infeasible under this policy.",
    .source =
        "AlexNet on one card (models that fit on the card); the usual method if all weights fit",
    .example = "sluice run alexnet_resident policy.buffers=3",
    .parameters = parameters(),
    .modes = {{Mode::inference, {"keep_all"}}, {Mode::training}},
    .replicable = true,
    .cuts = cuts,
    .plan = plan_resident,
    .candidates = candidates,
    .alternatives = alternatives,
};

}  // namespace sluice
