// The policy `phased` is PopART's phased execution. In a phase, one device computes a stage for a batch. With n
// devices, device i mod n computes phase i. Meanwhile, the device of phase i + 1 transfers: it saves its latest
// results, and loads the weights and inputs of phase i + 1. Phase i + 1 starts when the computation of phase i and
// these transfers have ended.
//
// With overlap and preloaded weights, a phase of the steady state takes max(I/O, computation) seconds. Here, I/O are
// the seconds of the phase's transfers: of its weights, and of the activations that cross the link to host memory.
// Without overlap, a phase takes I/O + computation seconds.
#include <algorithm>

#include "base/error.hpp"
#include "planning/common_parameters.hpp"
#include "planning/phased/at_least.hpp"
#include "planning/phased/plans.hpp"
#include "planning/placement/placement_key.hpp"
#include "planning/streaming/keys.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/training.hpp"
#include "policy/placed_policy.hpp"

namespace sluice {

namespace {

/// In training, a phase computes consecutive passes of one stage, for all micro-batches in flight. With n devices, device
/// s mod n computes all passes of stage s. So a backward pass finds the tensors that its forward pass kept. If there are
/// N stages and no pass runs again, stage s is computed in phase s and in phase 2 (N - 1) - s, as in PopART
/// (graphcore/popart, willow/src/transforms/pingpong.cpp). If a phase needs a tensor from another device, the tensor
/// goes through host memory.
TrainingOrder training_order(const PolicyRequest& request, const Reader& parameters) {
  refuse_in_training(
      parameters, {"weights", "weights_per", "last_turn", "host_data", "outputs"},
      "Sluice chooses when weights are loaded, inputs are always loaded, and no output is saved");
  TrainingOrder order{
      .policy = "phased", .weights_stay = false, .overlap = parameters.boolean("overlap")};
  if (!parameters.is_word("in_flight", "auto")) order.in_flight = parameters.integer("in_flight");
  const Platform& platform = request.pricing.platform;
  if (request.phases)
    for (const char* key : {"activations", "devices", "stages"})
      if (const Value* value = request.phases->map().find(key))
        fail_at(*value, "'" + std::string(key) +
                            "' in phases is for inference; in training, all devices take turns, or "
                            "the policy's 'device' computes alone");
  if (parameters.has("device"))
    order.devices = {platform.device(parameters.text("device")).name};
  else
    for (const Device& device : platform.devices) order.devices.push_back(device.name);
  read_staying(parameters, request, order);
  return order;
}

PlansForMachine plans(const PolicyRequest& request, const Reader& parameters) {
  if (!request.workload.training) {
    refuse_in_inference(
        parameters, {"resident", "resident_gradients", "resident_optimizer"},
        "all weights take turns; use 'weights_per: step' to load them once per step");
    return phase_plans(request, parameters);
  }
  const TrainingOrder order = training_order(request, parameters);
  const auto on = [&parameters](const PolicyRequest& machine) {
    return training_order(machine, parameters);
  };
  return {.candidates = [on](const PolicyRequest& m) { return training_candidates(m, on(m)); },
          .plan = [on](const PolicyRequest& m) { return plan_training(m, on(m)); },
          .at_least = [on](const PolicyRequest& m) { return training_at_least(m, on(m)); },
          .any_fates = [on](const PolicyRequest& m) { return any_fates_at_least(m, on(m)); },
          .same_ways = [on](const PolicyRequest& m) { return steps_text(m, on(m)); },
          .on = {order.devices, order.overlap}};
}

/// Returns the mappings for `policy:` that are compared in inference, one for each order of phases.
std::vector<Value> alternatives(const PolicyRequest& request, const Reader& parameters) {
  std::vector<Value> maps;
  if (request.workload.training) return maps;
  for (const PhaseTurns& turns : open_turns(request, parameters)) {
    maps.push_back(parameters.map());
    maps.back().set("in_flight", Value::make(turns.in_flight));
    if (turns.last_turn > 0) maps.back().set("last_turn", Value::make(turns.last_turn));
  }
  return maps;
}

const Policy without_placement = {
    .name = "phased",
    .summary =
        "PopART's phased execution: one device computes a stage while another device saves and "
        "loads.",
    .details =
        "Use this policy for devices with a small memory and a larger streaming memory, such as a "
        "pair of IPUs. While one device computes a phase, the other device transfers: it saves the "
        "results of its previous phase, and loads the weights and inputs for its next phase. After "
        "each phase, the two devices swap these roles. A phase lasts as long as its computation or "
        "its transfers, whichever takes longer. The memory of each device has to hold only one "
        "stage and the activations of this stage.",
    .source =
        "PopART phased execution: graphcore/examples, phased_execution.py; PopART user guide, phased execution",
    .example = "sluice run phased_ipu_pair policy.weights_per=step",
    .parameters = with_staying_parameters(
        phase_parameters(), "training: the stages whose weights stay on their devices"),
    .modes = {{Mode::inference, {"keep_all"}}, {Mode::training}},
    .all_devices = true,
    .takes_phases = true,
    .replicable = true,
    .cuts = cuts_for_devices,
    .alternatives = alternatives,
    .at_least = phases_at_least,
};

}  // namespace

extern const Policy phased_policy;
const Policy phased_policy = placed_policy(without_placement, home_field(), plans);

}  // namespace sluice
