#include "scenario/placed_bound.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "planning/placement/kernels.hpp"

namespace sluice {
namespace {

/// Returns the least seconds in which the device can compute all passes of one micro-batch.
double seconds_on(const Scenario& scenario, const std::string& device) {
  const Workload& workload = scenario.workload;
  const std::vector<Stage> stages;
  const Pricing pricing{scenario.model,    stages,
                        scenario.platform, *scenario.cost,
                        workload.dtype,    workload.training ? &*workload.training : nullptr};
  const PlacedKernels work =
      placed_kernels({pricing, workload, "", 1}, two_memories(scenario.platform, device));
  double forward = 0, forward_with_backward = 0, backward = 0;
  for (std::size_t k = 0; k < work.kernels.size(); ++k) {
    const PlacedKernel& kernel = work.kernels[k];
    const double seconds = work.problem.kernels[k].time.least();
    if (kernel.kind == ActionKind::backward) backward += seconds;
    if (kernel.kind != ActionKind::forward) continue;
    forward += seconds;
    if (scenario.model.layers[kernel.layer].backward.runs) forward_with_backward += seconds;
  }
  // The price of the backward passes depends on the plan. With the factor `workload.backward`, a plan may multiply the
  // price of the forward passes of all layers that have a backward pass. Other plans price the backward pass of each
  // layer. The bound must hold for both kinds of plans, so it takes the smaller price.
  if (workload.training && workload.training->backward)
    backward = std::min(backward, *workload.training->backward * forward_with_backward);
  return forward + backward;
}

QuestionBound bound_of_computation(const Scenario& scenario) {
  const std::vector<const Device*> devices = question_devices(scenario);
  double least = std::numeric_limits<double>::infinity();
  QuestionBound bound;
  if (devices.size() < scenario.platform.devices.size())
    bound.within = " on " + devices.front()->name;
  try {
    for (const Device* device : devices)
      if (device->rate.count(scenario.workload.dtype) != 0)
        least = std::min(least, seconds_on(scenario, device->name));
  } catch (const InputError&) {
    bound.reason = "tensors may be in several memories";
    return bound;
  }
  const Workload& workload = scenario.workload;
  bound.seconds = least * static_cast<double>(workload.steps) *
                  static_cast<double>(workload.micro_batches_per_step()) /
                  static_cast<double>(devices.size());
  bound.reason = "computation " + format_seconds(bound.seconds) +
                 " with each tensor in the memory where its kernels are fastest";
  return bound;
}

/// Returns whether no device that may compute reads or writes host memory itself. Then inputs, weights and answers
/// cross the links of host memory.
bool work_beside_host(const Scenario& scenario) {
  const std::string& host = scenario.platform.host().name;
  return std::ranges::all_of(question_devices(scenario), [&](const Device* device) {
    return device->memories.size() > 1 &&
           std::ranges::none_of(device->memories,
                                [&](const DeviceMemory& memory) { return memory.pool == host; });
  });
}

/// Adds what the bound of computation does not count: transfers between host memory and the devices. The proof stands
/// beside bound_of(): all its parts hold for all memories of the devices together. Computation counts 0 s there.
QuestionBound with_transfers(const QuestionBound& computation, const QuestionTerms& terms) {
  QuestionBound bound = computation;
  bound.seconds += terms.first_s + terms.last_s;
  const QuestionBound transfers = bound_of(terms);
  if (!(transfers.seconds > bound.seconds)) return bound;
  bound.seconds = transfers.seconds;
  bound.reason = transfers.reason;
  return bound;
}

}  // namespace

QuestionBound placed_bound(const Scenario& scenario, const std::vector<Stage>& stages) {
  const QuestionBound computation = bound_of_computation(scenario);
  if (!work_beside_host(scenario)) return computation;
  try {
    return with_transfers(computation, placed_terms(scenario, stages));
  } catch (const InputError&) {  // Host memory cannot send bytes to one of the memories.
    return computation;
  }
}

}  // namespace sluice
