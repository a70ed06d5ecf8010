#include "planning/stage_actions.hpp"

#include "base/quantity.hpp"

namespace sluice {

void hold_step(PlanBuilder& builder, const PolicyRequest& request, const std::string& host,
               bool answers) {
  const std::int64_t samples = request.workload.samples_per_step();
  const auto hold = [&](const char* name, TensorClass tensor_class, std::int64_t bytes) {
    builder.tensor(name, tensor_class,
                   checked_mul(bytes, samples, std::string("bytes of a step's ") + name), host);
  };
  hold("inputs", TensorClass::input, request.pricing.stages.front().input_bytes);
  if (answers) hold("outputs", TensorClass::output, request.pricing.stages.back().output_bytes);
}

Plan finish_rounds(PlanBuilder& builder, const Workload& workload, const Round& round) {
  Plan plan = builder.finish(checked_mul(workload.steps, round.per_step, "rounds of a run"));
  plan.iterations_per_step = round.per_step;
  return plan;
}

PlanBuilder::Ref list_forward(PlanBuilder& builder, const ForwardPass& forward) {
  const std::uint32_t pool = builder.pool(forward.device);
  const PlanBuilder::Ref ref =
      builder.compute(ActionKind::forward, forward.device, static_cast<std::int32_t>(forward.stage),
                      static_cast<std::int32_t>(forward.micro_batch), forward.samples);
  Action& action = builder.at(ref);
  action.allocates.push_back({forward.output, pool});
  if (forward.bytes.workspace > 0) {
    const std::string name =
        "workspace." + std::to_string(forward.stage) + "." + std::to_string(forward.micro_batch);
    const Placement workspace{builder.tensor(name, TensorClass::workspace, forward.bytes.workspace),
                              pool};
    action.allocates.push_back(workspace);
    action.uses.push_back({.tensor = workspace.tensor, .pool = workspace.pool, .written = true});
  }
  if (forward.drops_output) {
    action.uses.push_back({forward.output, pool});
    action.samples_done = forward.samples;
  }
  return ref;
}

StageOutput list_stage(PlanBuilder& builder, ForwardPass forward, std::uint32_t input) {
  const std::string micro_batch = std::to_string(forward.micro_batch);
  forward.output =
      forward.last ? builder.tensor("output." + micro_batch, TensorClass::output,
                                    forward.bytes.output, forward.drops_output ? "" : forward.home)
                   : builder.tensor("boundary." + std::to_string(forward.stage) + "." + micro_batch,
                                    TensorClass::activation, forward.bytes.output);
  const PlanBuilder::Ref ref = list_forward(builder, forward);
  const std::uint32_t pool = builder.pool(forward.device);
  builder.at(ref).uses.push_back({input, pool});
  return {ref, forward.output};
}

PlanBuilder::Ref list_save(PlanBuilder& builder, std::uint32_t tensor, const ForwardPass& forward,
                           const std::string& host, bool answer) {
  const PlanBuilder::Ref ref = builder.transfer(
      ActionKind::save, tensor, {.from = forward.device, .to = host, .allocate = !answer},
      static_cast<std::int32_t>(forward.stage), static_cast<std::int32_t>(forward.micro_batch));
  if (answer) builder.at(ref).samples_done = forward.samples;
  return ref;
}

std::vector<PlanBuilder::Ref> list_weights(PlanBuilder& builder,
                                           const std::vector<StageBytes>& bytes,
                                           const std::vector<std::string>& devices,
                                           const std::string& host) {
  std::vector<PlanBuilder::Ref> loads(bytes.size());
  builder.enter(Section::prologue);
  for (std::size_t stage = 0; stage < bytes.size(); ++stage) {
    if (bytes[stage].weights == 0) continue;
    const std::uint32_t weights = builder.tensor("weights." + std::to_string(stage),
                                                 TensorClass::weight, bytes[stage].weights, host);
    loads[stage] = builder.transfer(ActionKind::load, weights,
                                    {.from = host, .to = devices[stage], .release = false},
                                    static_cast<std::int32_t>(stage), -1);
  }
  return loads;
}

void hold_caches(PlanBuilder& builder, const PolicyRequest& request,
                 const std::vector<std::string>& devices) {
  for (std::size_t stage = 0; stage < devices.size(); ++stage) {
    const std::int64_t bytes =
        cache_bytes(request.pricing.stages[stage], request.workload.samples_per_step());
    if (bytes > 0)
      builder.tensor("kv_cache." + std::to_string(stage), TensorClass::kv_cache, bytes,
                     devices[stage]);
  }
}

}  // namespace sluice
