// Adds a policy that is not compiled into Sluice. The policy runs one micro-batch at a time, and loads the weights of a
// stage each time the stage runs. So the device never holds the weights of more than one stage.
#include <cstdio>

#include "document/bundled.hpp"
#include "planning/program_draft.hpp"
#include "planning/program_listing.hpp"
#include "planning/stage_bytes.hpp"
#include "run/run.hpp"
#include "scenario/scenario.hpp"
#include "workload/rounds.hpp"

using namespace sluice;

namespace {

Draft reload(const PolicyRequest& request, const Reader&) {
  const std::vector<StageBytes> stages = stage_bytes(request);
  ProgramDraft draft({request.pricing.platform.devices.front().name});
  draft.hold_step(request, /*answers=*/true);
  std::uint32_t tensor = draft.make("input", TensorClass::input, stages.front().input, 0, 0);
  draft.bring(tensor, 0, Program::Home::none);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    Program::Operation forward = draft.operation(ActionKind::forward, s);
    forward.micro_batch = 0;
    forward.workspace = stages[s].workspace;
    if (s == 0) forward.loads.push_back(tensor);
    if (stages[s].weights > 0) {  // loaded before the operation, and freed after it
      draft.hold_weights(s, stages[s].weights);
      const auto weights = draft.make("weights", TensorClass::weight, stages[s].weights, s, -1);
      draft.bring(weights, 0, Program::Home::weights);
      forward.loads.push_back(weights);
      draft.use(forward, weights);
    }
    draft.use(forward, tensor);
    tensor = draft.make("output", TensorClass::output, stages[s].output, s, 0);
    forward.makes.push_back(tensor);
    draft.add(forward);
  }
  draft.save_answer(tensor);
  draft.program.loads = loads_when_needed(draft.program);
  draft.repeat(request.workload, round_of(request.workload));  // a round has one micro-batch
  return list_program(
      {.request = request, .program = draft.program, .name = "reload", .overlap = false});
}

}  // namespace

int main() {
  add_policy({.name = "reload",
              .summary = "Loads the weights of a stage each time the stage runs.",
              .plan = reload});
  const std::string file = find_document("alexnet_resident", "scenarios");
  for (const char* policy : {"basic", "reload"}) {
    const Scenario scenario =
        load_scenario(file, {std::string("policy={name: ") + policy + "}", "stages.cut=per_layer"});
    const Plan plan = make_plan(scenario);
    // The replay executes the plans, because SimGrid can run only one plan per process.
    const Summary summary = run({.plan = plan, .executor = Executor::replay}).summary;
    std::printf("%-6s %6.1f ms per step, at most %5.1f MB\n", policy,
                1e3 * summary.number("step_s"), 1e-6 * summary.number("peak_bytes", {"gpu"}));
  }
}
