// The policy `basic` is the shortest policy: read it before the others. It uses one device, which does one thing at a
// time. The device first loads the weights. Then it does three things for each micro-batch: it loads the input,
// computes all stages, and saves the answer.
//
// Suppose that the loads of the weights take W seconds in all. For each of M micro-batches, the load of the input takes
// I seconds, the computation C seconds, and the save of the answer O seconds. Then the run takes W + M (I + C + O)
// seconds.
#include "planning/program_draft.hpp"
#include "planning/program_listing.hpp"
#include "planning/stage_bytes.hpp"
#include "policy/policy.hpp"
#include "workload/rounds.hpp"

namespace sluice {

namespace {

Draft plan(const PolicyRequest& request, const Reader&) {
  const std::string device = request.pricing.platform.devices.front().name;
  const std::vector<StageBytes> stages = stage_bytes(request);

  ProgramDraft draft({device});
  draft.hold_step(request, /*answers=*/true);  // inputs and answers are in host memory
  std::uint32_t tensor = draft.make("input", TensorClass::input, stages.front().input, 0, 0);
  draft.bring(tensor, 0, Program::Home::none);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    draft.hold_weights(s, stages[s].weights);
    draft.program.staying.push_back({.weights = stages[s].weights});  // loaded once
    draft.hold_cache(request, s, request.workload.samples_per_step(), device);

    Program::Operation forward = draft.operation(ActionKind::forward, s);
    forward.micro_batch = 0;
    forward.workspace = stages[s].workspace;
    if (s == 0) forward.loads.push_back(tensor);
    draft.use(forward, tensor);
    // The stage frees its input, and its output is the input of the next stage.
    const bool last = s + 1 == stages.size();
    tensor =
        draft.make(instance_name(last ? "output" : "boundary", s, 0),
                   last ? TensorClass::output : TensorClass::activation, stages[s].output, s, 0);
    forward.makes.push_back(tensor);
    draft.add(std::move(forward));
  }
  draft.save_answer(tensor);
  draft.program.loads = loads_when_needed(draft.program);
  draft.repeat(request.workload, round_of(request.workload));  // a round has one micro-batch
  return list_program(
      {.request = request, .program = draft.program, .name = "basic", .overlap = false});
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
    .plan = plan,
};

}  // namespace sluice
