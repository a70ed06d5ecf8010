// Under the policy `streamed`, the weights of groups take turns on the device. Each stage of the cut is a group. When
// the weights of a group have been loaded, all micro-batches in flight go through the group. Their activations stay on
// the device for the next group, or go through host memory. If a step has more micro-batches than are in flight, the
// weights are loaded several times per step.
#include "planning/placement/placement_key.hpp"
#include "planning/streaming/choices.hpp"
#include "planning/streaming/listing.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/training.hpp"
#include "policy/placed_policy.hpp"

namespace sluice {

namespace {

TrainingOrder training_order(const PolicyRequest& request, const Reader& parameters) {
  const CommonParameters common = read_common(request, parameters);
  TrainingOrder order{.policy = "streamed",
                      .weights_stay = false,
                      .devices = {common.device.name},
                      .overlap = common.overlap};
  if (!parameters.is_word("in_flight", "auto")) order.in_flight = parameters.integer("in_flight");
  refuse_common_in_training(parameters);
  refuse_in_training(parameters, {"prefetch", "pieces", "ahead"},
                     "Sluice chooses when loads start");
  read_staying(parameters, request, order);
  return order;
}

Draft plan_from_host(const PolicyRequest& request, const Reader& parameters) {
  if (request.workload.training) return plan_training(request, training_order(request, parameters));
  const CommonParameters common = read_common(request, parameters);
  const StreamedKeys keys = streamed_keys(request, common, parameters);
  const bool offload = keys.offload.value_or(false);
  // Keys that are still open get the values that need the least memory. If no candidate fits, check() reports how many
  // bytes are missing even with these values.
  return list_as_asked(
      request, common,
      {.in_flight = keys.in_flight.value_or(1),
       .buffers = keys.buffers.value_or(1),
       .offload = offload,
       .prefetch = keys.prefetch.value_or(0),
       .piece = keys.piece.value_or(0),
       .resident = asked_to_stay(streamed_case(request, common, offload), keys.resident)});
}

std::vector<Candidate> candidates_from_host(const PolicyRequest& request,
                                            const Reader& parameters) {
  if (request.workload.training)
    return training_candidates(request, training_order(request, parameters));
  const CommonParameters common = read_common(request, parameters);
  const StreamedKeys keys = streamed_keys(request, common, parameters);
  if (keys.all_given() && !request.cut_open) return {};
  return streamed_candidates(request, common, keys);
}

PlansForMachine plans_from_host(const PolicyRequest& request, const Reader& parameters) {
  const CommonParameters common = read_common(request, parameters);
  return {
      [&parameters](const PolicyRequest& on) { return candidates_from_host(on, parameters); },
      [&parameters](const PolicyRequest& machine) { return plan_from_host(machine, parameters); },
      [&parameters](const PolicyRequest& machine) {
        if (machine.workload.training)
          return training_at_least(machine, training_order(machine, parameters));
        const CommonParameters there = read_common(machine, parameters);
        return streamed_at_least(machine, there, streamed_keys(machine, there, parameters));
      },
      [&parameters](const PolicyRequest& machine) {
        return any_fates_at_least(machine, training_order(machine, parameters));
      },
      [&parameters](const PolicyRequest& machine) {
        if (!machine.workload.training) return std::string();
        return steps_text(machine, training_order(machine, parameters));
      },
      {{common.device.name}, common.overlap}};
}

std::vector<Field> parameters() {
  std::vector<Field> fields = common_parameters();
  for (Field& field : streamed_parameters()) fields.push_back(std::move(field));
  return fields;
}

const Policy without_placement = {
    .name = "streamed",
    .summary =
        "The weights of groups take turns on the device. Each time the weights of a group have been "
        "loaded, many micro-batches run through the group.",
    .details =
        "Use this policy when the weights do not fit into the memory of the device. The weights "
        "have their home in host memory. The groups are loaded one after the other. Each group then "
        "computes many micro-batches. This computation hides the load of the next group. With more "
        "micro-batches in flight, the weights are loaded less often. But the activations of these "
        "micro-batches take memory, so fewer weights can be loaded early. If the scenario leaves "
        "the number of micro-batches in flight open, the policy finds the best number.",
    .source =
        "AlexNet on one card (a model larger than its card); Sheng et al. 2023, FlexGen, section 4 (block schedule)",
    .example = "sluice run alexnet_x200 policy.in_flight=450",
    .parameters = parameters(),
    .modes = {{Mode::inference}, {Mode::training}},
    .replicable = true,
    .cuts = cuts_for_turns,
};

}  // namespace

extern const Policy streamed_policy;
const Policy streamed_policy = placed_policy(without_placement, home_field(), plans_from_host);

}  // namespace sluice
