#include "planning/parts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace sluice {

std::vector<Field> common_parameters() {
  return {
      {.name = "device",
       .type = Type::text,
       .summary = "the device that computes; by default the first device of the platform",
       .optional = true},
      {.name = "overlap",
       .type = Type::boolean,
       .summary =
           "whether transfers run during computation; off: the actions run one after the other, in "
           "the order of the plan",
       .default_text = "true"},
      {.name = "buffers",
       .type = Type::integer,
       .summary =
           "how many inputs of micro-batches have room on the device; as many outputs have room "
           "there until they are saved",
       .default_text = "auto",
       .choices = {"auto"},
       .minimum = 1,
       .maximum = 1e6},
      {.name = "outputs",
       .type = Type::choice,
       .summary = "return: each answer is saved to host memory; discard: each answer is dropped",
       .default_text = "return",
       .choices = {"return", "discard"}},
  };
}

CommonParameters read_common(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  const Device& device =
      parameters.has("device")
          ? located(*parameters.value("device"),
                    [&]() -> const Device& { return platform.device(parameters.text("device")); })
          : platform.devices.front();
  const bool overlap = parameters.boolean("overlap");
  const std::int64_t buffers =
      parameters.is_word("buffers", "auto") ? usual_buffers : parameters.integer("buffers");
  return {device, platform.host().name, overlap, overlap ? buffers : 1,
          parameters.text("outputs") == "return"};
}

std::vector<std::int64_t> in_flight_choices(std::int64_t micro_batches, std::int64_t growth) {
  std::vector<std::int64_t> counts;
  for (std::int64_t passes = 1; passes < micro_batches;
       passes += std::max<std::int64_t>(1, passes / growth))
    counts.push_back((micro_batches + passes - 1) / passes);
  counts.push_back(1);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Round round_of(const Workload& workload, std::int64_t at_least) {
  const std::int64_t all = workload.micro_batches_per_step();
  std::int64_t count = std::min(std::max<std::int64_t>(at_least, 1), all);
  while (all % count != 0) ++count;
  return {count, all / count};
}

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

void refuse_in_training(const Reader& parameters, const std::vector<const char*>& keys,
                        const std::string& reason) {
  for (const char* key : keys)
    if (parameters.has(key))
      parameters.fail(key, "'" + std::string(key) + "' is for inference; in training " + reason);
}

void refuse_common_in_training(const Reader& parameters) {
  refuse_in_training(parameters, {"buffers"}, "Sluice chooses when loads start");
  refuse_in_training(parameters, {"outputs"}, "no output leaves the device");
}

std::vector<StageBytes> stage_bytes(const PolicyRequest& request) {
  std::vector<StageBytes> all;
  const std::int64_t samples = request.workload.micro_batch;
  for (const Stage& stage : request.pricing.stages) {
    const auto times = [&](std::int64_t bytes) {
      return checked_mul(bytes, samples, "bytes of a micro-batch in stage " + stage.name);
    };
    all.push_back({stage.weight_bytes, times(stage.input_bytes), times(stage.output_bytes),
                   request.working_set_counted ? times(stage.workspace_bytes) : 0});
  }
  return all;
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
    action.uses.push_back({workspace.tensor, workspace.pool, true, true});
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
  StageOutput made{ref, forward.output};
  if (forward.bytes.answer > 0) {
    made.answer = builder.tensor("output." + std::to_string(forward.stage) + "." + micro_batch,
                                 TensorClass::output, forward.bytes.answer,
                                 forward.drops_answer ? "" : forward.home);
    builder.at(ref).allocates.push_back({made.answer, pool});
    if (forward.drops_answer) builder.at(ref).uses.push_back({made.answer, pool});
  }
  return made;
}

PlanBuilder::Ref list_save(PlanBuilder& builder, std::uint32_t tensor, const ForwardPass& forward,
                           const std::string& host, bool answer) {
  const PlanBuilder::Ref ref = builder.transfer(
      ActionKind::save, tensor, {forward.device, host, true, !answer},
      static_cast<std::int32_t>(forward.stage), static_cast<std::int32_t>(forward.micro_batch));
  if (answer) builder.at(ref).samples_done = forward.samples;
  return ref;
}

StageRunner::StageRunner(PlanBuilder& builder, const PolicyRequest& request,
                         const CommonParameters& common, std::vector<StageBytes> bytes)
    : builder_(builder), request_(request), common_(common), bytes_(std::move(bytes)) {
  const std::int64_t count = request.workload.micro_batches_per_step();
  for (std::int64_t m = 0; m < count; ++m)
    inputs_.push_back(builder.tensor("input." + std::to_string(m), TensorClass::input,
                                     bytes_.front().input, common.host));
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
    loads[stage] = builder.transfer(ActionKind::load, weights, {host, devices[stage], false, true},
                                    static_cast<std::int32_t>(stage), -1);
  }
  return loads;
}

std::int64_t cache_bytes(const Stage& stage, std::int64_t samples) {
  return checked_mul(stage.cache_bytes, samples, "bytes of the cache of stage " + stage.name);
}

std::int64_t cache_bytes(const PolicyRequest& request) {
  std::int64_t bytes = 0;
  for (const Stage& stage : request.pricing.stages)
    bytes = checked_add(bytes, cache_bytes(stage, request.workload.samples_per_step()),
                        "bytes of all caches");
  return bytes;
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

std::vector<PlanBuilder::Ref> StageRunner::load_all_weights() {
  return list_weights(builder_, bytes_,
                      std::vector<std::string>(bytes_.size(), common_.device.name), common_.host);
}

void StageRunner::hold_caches() {
  sluice::hold_caches(builder_, request_,
                      std::vector<std::string>(bytes_.size(), common_.device.name));
}

SlotLoad StageRunner::input_load(std::int64_t micro_batch, std::int64_t slot) {
  SlotLoad load;
  load.tensor = input_tensor(micro_batch);
  load.ends = {common_.host, common_.device.name, false, true};
  load.stage = 0;
  load.micro_batch = static_cast<std::int32_t>(micro_batch);
  load.slot = slot;
  return load;
}

StageOutput StageRunner::forward(std::size_t stage, std::int64_t micro_batch, std::uint32_t input) {
  ForwardPass forward = forward_of(stage, micro_batch);
  forward.last = stage + 1 == bytes_.size();
  forward.drops_output = forward.last && !common_.return_outputs;
  forward.drops_answer = !common_.return_outputs;
  forward.home = common_.host;
  return list_stage(builder_, std::move(forward), input);
}

PlanBuilder::Ref StageRunner::save(const StageOutput& made, std::size_t stage,
                                   std::int64_t micro_batch, bool answer) {
  const bool part = made.answer != none;
  const PlanBuilder::Ref ref = list_save(builder_, part ? made.answer : made.output,
                                         forward_of(stage, micro_batch), common_.host, answer);
  if (part) builder_.at(ref).samples_done = 0;
  builder_.wait(ref, made.action);
  saves_.emplace_back(made.action, ref);
  return ref;
}

ForwardPass StageRunner::forward_of(std::size_t stage, std::int64_t micro_batch) const {
  return {stage, micro_batch, common_.device.name, bytes_[stage], request_.workload.micro_batch};
}

void StageRunner::finish() {
  finish(std::vector<std::int64_t>(saves_.size(), common_.buffers));
}

void StageRunner::finish(const std::vector<std::int64_t>& buffers) {
  const auto count = static_cast<std::int64_t>(saves_.size());
  for (std::int64_t j = 0; j < count; ++j) {
    const RowPosition earlier = row_position(j - buffers[static_cast<std::size_t>(j)], count);
    builder_.wait(saves_[static_cast<std::size_t>(j)].first, saves_[earlier.index].second,
                  earlier.steps_ago);
  }
}

}  // namespace sluice
