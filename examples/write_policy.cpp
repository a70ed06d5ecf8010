// Adds a policy that is not compiled into Sluice. The policy runs one micro-batch at a time, and loads the weights of a
// stage each time the stage runs. So the device never holds the weights of more than one stage.
#include <cstdio>

#include "document/bundled.hpp"
#include "planning/stage_actions.hpp"
#include "run/run.hpp"
#include "scenario/scenario.hpp"

using namespace sluice;

namespace {

Draft reload(const PolicyRequest& request, const Reader&) {
  const Platform& platform = request.pricing.platform;
  const std::string host = platform.host().name, device = platform.devices.front().name;
  const std::vector<StageBytes> stages = stage_bytes(request);
  PlanBuilder builder(platform, "reload", request.capacity_enforced);
  hold_step(builder, request, host, /*answers=*/true);
  builder.enter(Section::body);
  std::uint32_t tensor = builder.tensor("input", TensorClass::input, stages.front().input);
  builder.transfer(ActionKind::load, tensor, {host, device, /*release=*/false}, 0, 0);
  ForwardPass forward{.device = device, .samples = request.workload.micro_batch};
  for (; forward.stage < stages.size(); ++forward.stage) {
    forward.bytes = stages[forward.stage];
    forward.last = forward.stage + 1 == stages.size();
    const auto weights =
        builder.tensor("weights", TensorClass::weight, forward.bytes.weights, host);
    builder.transfer(ActionKind::load, weights, {host, device, false}, int(forward.stage), 0);
    const StageOutput made = list_stage(builder, forward, tensor);
    builder.at(made.action).uses.push_back({weights, builder.pool(device)});  // freed after it
    tensor = made.output;
  }
  --forward.stage;
  list_save(builder, tensor, forward, host, /*answer=*/true);
  return {finish_rounds(builder, request.workload, round_of(request.workload)),
          /*one_at_a_time=*/true};
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
