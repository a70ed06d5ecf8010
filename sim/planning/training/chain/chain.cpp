#include <algorithm>

#include "base/quantity.hpp"
#include "planning/copy_time.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/training.hpp"

namespace sluice {

namespace {

/// Gives the seconds of a copy between host memory and the device if no other transfer uses the route. With overlap,
/// these are the seconds for which the copy occupies its engine. Without overlap, they also include the latency.
class CopyTimes {
 public:
  CopyTimes(const Platform& platform, const std::string& from, const std::string& to,
            bool overlap) {
    copy_ = copy_time(platform, from, to);
    if (!overlap) copy_.setup_s += copy_.latency_s;
  }
  double seconds(std::int64_t bytes) const { return bytes == 0 ? 0 : copy_.seconds(bytes); }

 private:
  CopyTime copy_;
};

/// Returns the bytes of the tensors that a stage makes for later stages. Tensors that it only passes on do not count:
/// inputs of the model, and outputs of earlier stages. But if all layers of the first stage are inputs, the stage
/// counts as their maker.
std::int64_t made_bytes(const Pricing& pricing, const Stage& stage) {
  const auto is_input = [&](std::uint32_t layer) {
    return pricing.model.layers[layer].inputs.empty();
  };
  bool computes = stage.first > 0;
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) computes = computes || !is_input(l);
  std::int64_t bytes = 0;  // at most output_bytes, so it cannot overflow
  for (const Crossing& crossing : stage.crosses)
    if (computes ? crossing.layer >= stage.first && !is_input(crossing.layer)
                 : is_input(crossing.layer))
      bytes += crossing.bytes;
  return bytes;
}

/// Returns the seconds in which the stage computes again what selective recomputation drops.
double selective_seconds(const Pricing& pricing, const Stage& stage, const Device& device,
                         std::int64_t samples) {
  return price_of(pricing, {.kind = ActionKind::recompute,
                            .stage = stage,
                            .device = device,
                            .samples = samples,
                            .selective = true})
      .seconds;
}

}  // namespace

Chain chain_of(const PolicyRequest& request, const Device& device, const PassOptions& passes) {
  const auto [selective, overlap] = passes;
  const Pricing& pricing = request.pricing;
  const std::string& host = pricing.platform.host().name;
  const CopyTimes up(pricing.platform, device.name, host, overlap);
  const CopyTimes down(pricing.platform, host, device.name, overlap);
  const std::int64_t samples = request.workload.micro_batch;
  const auto times = [&](std::int64_t bytes) {
    return checked_mul(bytes, samples, "bytes of a micro-batch");
  };
  const auto tensor = [&](std::int64_t bytes) {
    return ChainTensor{bytes, up.seconds(bytes), down.seconds(bytes)};
  };
  Chain chain;
  if (overlap) chain.load_latency_s = pricing.platform.path(host, device.name).latency_s;
  chain.input = tensor(times(pricing.stages.front().input_bytes));
  const std::vector<std::vector<ChainRead>> reads = branching_reads(pricing);
  for (const Stage& stage : pricing.stages) {
    const std::int64_t counted = request.working_set_counted ? 1 : 0;
    const std::int64_t dropped = selective ? stage.kept.selective_bytes : 0;
    ChainStage link;
    link.name = stage.name;
    const auto seconds = [&](ActionKind kind) {
      return price_of(pricing, {kind, stage, device, samples}).seconds;
    };
    link.forward_s = seconds(ActionKind::forward);
    link.backward_s =
        request.workload.training->split_backward
            ? seconds(ActionKind::backward_input) + seconds(ActionKind::backward_weight)
            : seconds(ActionKind::backward);
    if (dropped > 0) link.backward_s += selective_seconds(pricing, stage, device, samples);
    link.output = tensor(times(reads.empty() ? stage.output_bytes : made_bytes(pricing, stage)));
    if (!reads.empty()) link.reads = reads[chain.stages.size()];
    link.inner = tensor(times(stage.kept.inner_bytes - dropped));
    link.reads_input = stage.kept.reads_input;
    link.reads_output = stage.kept.reads_output;
    link.gradient = stage.learns ? link.output.bytes : 0;
    link.pass_workspace = counted * times(stage.workspace_bytes);
    link.keep_workspace =
        counted * times(checked_add(stage.kept.workspace_bytes, dropped, "bytes"));
    link.backward_workspace = checked_add(link.pass_workspace, times(dropped), "bytes");
    chain.stages.push_back(std::move(link));
  }
  // The gradient of the last output has no stage that makes it: the loss makes it during the last stage's backward
  // pass. So it counts as workspace of this pass.
  ChainStage& last = chain.stages.back();
  last.backward_workspace =
      checked_add(last.backward_workspace, last.gradient, "bytes of a backward pass");
  last.gradient = 0;
  last.reads_output = true;
  return chain;
}

std::optional<std::int64_t> host_bytes_left(const PolicyRequest& request,
                                            const std::vector<StageState>& states,
                                            bool weights_stay) {
  const std::optional<std::int64_t> capacity = request.pricing.platform.host().capacity;
  if (!capacity || !request.capacity_enforced) return {};
  // If the platform is a shown machine, the inputs are in another memory (backing.hpp).
  std::int64_t held = 0;
  if (!request.real_machine)
    held = checked_mul(request.pricing.stages.front().input_bytes,
                       request.workload.samples_per_step(), "bytes of a step's inputs");
  for (const StageState& state : states) {
    held = checked_add(held, state.weights, "bytes in host memory");
    if (weights_stay) continue;
    if (!state.stays.optimizer) held = checked_add(held, state.optimizer, "bytes in host memory");
    if (!state.updates && !state.stays.gradients)
      held = checked_add(held, state.gradients, "bytes in host memory");
  }
  return *capacity - held;
}

std::optional<std::int64_t> host_room(const PolicyRequest& request,
                                      const std::vector<StageState>& states, bool weights_stay) {
  const auto left = host_bytes_left(request, states, weights_stay);
  return left ? std::optional(std::max<std::int64_t>(0, *left)) : left;
}

std::vector<StageState> states_of(const PolicyRequest& request, const Device& device,
                                  const PassOptions& passes,
                                  const std::vector<StayingTensors>& staying) {
  const auto [selective, overlap] = passes;
  const Pricing& pricing = request.pricing;
  const Training& training = *request.workload.training;
  const std::string& host = pricing.platform.host().name;
  const CopyTimes up(pricing.platform, device.name, host, overlap);
  const CopyTimes down(pricing.platform, host, device.name, overlap);
  const std::int64_t samples = request.workload.micro_batch;
  std::vector<StageState> states;
  for (const Stage& stage : pricing.stages) {
    StageState state;
    state.weights = stage.weight_bytes;
    state.gradients = training.gradient_bytes(stage.weight_bytes);
    state.optimizer = training.optimizer_bytes(stage.weight_bytes);
    if (!staying.empty()) state.stays = staying[states.size()];
    state.updates = training.optimizer->updates;
    state.update_s = price_of(pricing, {ActionKind::update, stage, device}).seconds;
    if (training.split_backward) {
      const auto half = [&](ActionKind kind) {
        return price_of(pricing, {kind, stage, device, samples}).seconds;
      };
      state.backward_input_s = half(ActionKind::backward_input);
      state.backward_weight_s = half(ActionKind::backward_weight);
    }
    state.weights_load_s = down.seconds(state.weights);
    state.gradients_load_s = down.seconds(state.gradients);
    state.optimizer_load_s = down.seconds(state.optimizer);
    state.weights_save_s = up.seconds(state.weights);
    state.gradients_save_s = up.seconds(state.gradients);
    state.optimizer_save_s = up.seconds(state.optimizer);
    if (selective && stage.kept.selective_bytes > 0) {
      state.selective_bytes = checked_mul(stage.kept.selective_bytes, samples, "bytes");
      state.selective_s = selective_seconds(pricing, stage, device, samples);
    }
    states.push_back(state);
  }
  return states;
}

FateRun run_of(const Workload& workload, const Chain& chain,
               const std::vector<StageState>& states) {
  const std::int64_t per_batch = workload.batch / workload.micro_batch;
  FateRun run;
  run.batches = batches_of_run(workload);
  run.micro_batches = run.batches * static_cast<double>(per_batch);
  run.one_a_step = per_batch * workload.batches_per_step == 1;
  double computed_s = 0;  // by the forward passes before the stage
  for (std::size_t s = 0; s < states.size(); ++s) {
    run.weights_s += states[s].weights_load_s;
    if (s == 0) run.first_weights_s = run.weights_s;
    run.weights_wait_s = std::max(run.weights_wait_s, run.weights_s - computed_s);
    computed_s += chain.stages[s].forward_s;
    if (states[s].updates) run.update_s += states[s].update_s;
  }
  return run;
}

}  // namespace sluice
