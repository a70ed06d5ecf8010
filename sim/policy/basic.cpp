// The policy `basic` is the shortest policy: read it before the others. It uses one device, which does one thing at a
// time. The device first loads the weights. Then it does three things for each micro-batch: it loads the input,
// computes all stages, and saves the answer.
//
// Suppose that the loads of the weights take W seconds in all. For each of M micro-batches, the load of the input takes
// I seconds, the computation C seconds, and the save of the answer O seconds. Then the run takes W + M (I + C + O)
// seconds.
#include "planning/stage_actions.hpp"
#include "policy/policy.hpp"

namespace sluice {

namespace {

Draft plan(const PolicyRequest& request, const Reader&) {
  const Platform& platform = request.pricing.platform;
  const std::string host = platform.host().name, device = platform.devices.front().name;
  const std::vector<StageBytes> stages = stage_bytes(request);
  const std::vector<std::string> devices(stages.size(), device);  // the device of each stage
  const Workload& workload = request.workload;
  const Round round = round_of(workload);  // a round has one micro-batch, and so does the body

  PlanBuilder builder(platform, "basic", request.capacity_enforced);
  hold_step(builder, request, host, /*answers=*/true);  // inputs and answers are in host memory
  hold_caches(builder, request, devices);        // caches of keys and values are on the device
  list_weights(builder, stages, devices, host);  // the prologue loads all weights
  builder.enter(Section::body);
  std::uint32_t tensor = builder.tensor("input", TensorClass::input, stages.front().input);
  builder.transfer(ActionKind::load, tensor, {host, device, /*release=*/false}, 0, 0);
  ForwardPass forward{.device = device, .samples = workload.micro_batch};
  for (; forward.stage < stages.size(); ++forward.stage) {
    forward.bytes = stages[forward.stage];
    forward.last = forward.stage + 1 == stages.size();
    // The stage frees its input, and its output is the input of the next stage.
    tensor = list_stage(builder, forward, tensor).output;
  }
  --forward.stage;
  list_save(builder, tensor, forward, host, /*answer=*/true);
  return {finish_rounds(builder, workload, round), /*one_at_a_time=*/true};
}

}  // namespace

extern const Policy basic_policy = {
    .name = "basic",
    .summary =
        "The shortest policy, and an example for authors of policies: one device does one thing at "
        "a time.",
    .details =
        "The device first loads all weights, which stay on the device. For each micro-batch, the "
        "device then loads the input, computes all stages, and saves the answer. Nothing overlaps, "
        "so the makespan is the sum of all seconds. Use this policy as a template for your own "
        "policy, or to see how much time overlap would save. This policy plans only inference, and "
        "the weights have to fit into the memory of the device.",
    .source = "definition",
    .example = "sluice run alexnet_resident policy=basic",
    .parameters = {},
    .plan = plan,
};

}  // namespace sluice
