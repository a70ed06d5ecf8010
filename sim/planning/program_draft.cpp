#include "planning/program_draft.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity.hpp"
#include "planning/copy_time.hpp"
#include "planning/stage_bytes.hpp"
#include "stage/stage_inputs.hpp"
#include "workload/rounds.hpp"

namespace sluice {

void ProgramDraft::hold_step(const PolicyRequest& request, bool answers) {
  const auto hold = [&](const char* name, TensorClass tensor_class, std::int64_t bytes) {
    program.places.push_back({.name = name,
                              .tensor_class = tensor_class,
                              .bytes = checked_mul(bytes, request.workload.samples_per_step(),
                                                   std::string("bytes of a step's ") + name)});
  };
  hold("inputs", TensorClass::input, request.pricing.stages.front().input_bytes);
  if (answers) hold("outputs", TensorClass::output, request.pricing.stages.back().output_bytes);
}

void ProgramDraft::hold_weights(std::size_t stage, std::int64_t bytes) {
  if (bytes > 0)
    program.places.push_back({.home = Program::Home::weights,
                              .number = static_cast<std::int64_t>(stage),
                              .name = instance_name("weights", stage, -1),
                              .bytes = bytes});
}

void ProgramDraft::hold_cache(const PolicyRequest& request, std::size_t stage, std::int64_t samples,
                              const std::string& device) {
  const std::int64_t bytes = cache_bytes(request.pricing.stages[stage], samples);
  if (bytes > 0)
    program.places.push_back({.name = instance_name("kv_cache", stage, -1),
                              .tensor_class = TensorClass::kv_cache,
                              .bytes = bytes,
                              .node = device});
}

Program::Operation ProgramDraft::operation(ActionKind kind, std::size_t stage) const {
  Program::Operation operation;
  operation.kind = kind;
  operation.stage = static_cast<std::int32_t>(stage);
  operation.device = device_;
  operation.phase = phase_;
  return operation;
}

std::uint32_t ProgramDraft::make(const std::string& name, TensorClass tensor_class,
                                 std::int64_t bytes, std::size_t stage, std::int64_t micro_batch) {
  Program::Instance& instance = program.instances.emplace_back();
  instance.name = name;
  instance.tensor_class = tensor_class;
  instance.bytes = bytes;
  instance.stage = static_cast<std::int32_t>(stage);
  instance.micro_batch = static_cast<std::int32_t>(micro_batch);
  instance.device = device();
  instance.first = next();
  instance.last = -1;
  return static_cast<std::uint32_t>(program.instances.size() - 1);
}

std::string ProgramDraft::name_of(const StageInput& input, std::int64_t micro_batch) {
  const std::string layer = input.name.empty() ? "" : "." + input.name;
  return input.of_model ? "input" + layer + "." + std::to_string(micro_batch)
                        : instance_name("boundary" + layer, input.made_in, micro_batch);
}

std::uint32_t ProgramDraft::make_numbered(const char* what, TensorClass tensor_class,
                                          std::int64_t bytes, std::size_t stage,
                                          std::int64_t micro_batch) {
  const std::uint32_t made = make({}, tensor_class, bytes, stage, micro_batch);
  program.instances[made].what = what;
  return made;
}

std::uint32_t ProgramDraft::make_again(std::uint32_t other, std::size_t stage) {
  const Program::Instance from = program.instances[other];
  // A name with numbers has the stage that made the tensor.
  const bool named = !from.what || from.stage == static_cast<std::int32_t>(stage);
  const std::uint32_t made = make(named ? from.name : sluice::name_of(from), from.tensor_class,
                                  from.bytes, stage, from.micro_batch);
  if (named) program.instances[made].what = from.what;
  return made;
}

std::uint32_t ProgramDraft::make(const StageInput& input, std::int64_t samples, std::size_t stage,
                                 std::int64_t micro_batch) {
  return make(name_of(input, micro_batch),
              input.of_model ? TensorClass::input : TensorClass::activation,
              checked_mul(input.bytes, samples, "bytes of a micro-batch"), stage, micro_batch);
}

void ProgramDraft::bring(std::uint32_t instance, double load_s, Program::Home home,
                         std::uint32_t copy_of) {
  Program::Instance& brought = program.instances[instance];
  brought.loaded = true;
  brought.load_s = load_s;
  brought.home = home;
  brought.copy_of = copy_of;
}

std::uint32_t ProgramDraft::send(const Platform& platform,
                                 const std::vector<std::uint32_t>& holders, std::size_t stage) {
  const auto seconds = [&](std::uint32_t holder) {
    const std::string &from = program.devices[program.instances[holder].device],
                      &to = program.devices[device()];
    if (!platform.path_or_null(from, to)) return std::numeric_limits<double>::infinity();
    const CopyTime copy = copy_time(platform, from, to);
    return copy.seconds(program.instances[holder].bytes) + copy.latency_s;
  };
  const std::uint32_t source =
      holders.size() == 1 ? holders.front() : std::ranges::min(holders, {}, seconds);
  const std::uint32_t sent = make_again(source, stage);
  bring(sent, 0, Program::Home::none, source);
  program.instances[sent].sent = true;
  program.instances[source].last = std::max(program.instances[source].last, next());
  return sent;
}

void ProgramDraft::copy(Program::Operation operation, const Program::Transfer& copy) {
  if (copy.from != none) use(operation, copy.from);
  if (copy.to != none) {
    makes(operation, copy.to);
    comes_with(copy.to, next());
  }
  add(std::move(operation), copy);
}

void ProgramDraft::makes(Program::Operation& operation, std::uint32_t instance) {
  operation.makes.push_back(instance);
  program.instances[instance].first = next();
}

void ProgramDraft::use(Program::Operation& operation, std::uint32_t instance) {
  if (const auto came = came_with_.find(instance); came != came_with_.end())
    wait(next(), came->second);
  operation.uses.push_back(instance);
  program.instances[instance].last = next();
}

void ProgramDraft::save_after(std::uint32_t instance, std::int64_t operation) {
  Program::Instance& saved = program.instances[instance];
  saved.saved_at = operation;
  saved.last = std::max(saved.last, operation);
  auto& saves = program.operations[static_cast<std::size_t>(operation)].saves;
  saved.saves = static_cast<std::uint32_t>(saves.size());
  saves.push_back(instance);
}

void ProgramDraft::save_answer(std::uint32_t instance) {
  program.instances[instance].answer = program.instances[instance].saved_home = true;
  save_after(instance, next() - 1);
}

void ProgramDraft::repeat(const Workload& workload, const Round& round) {
  program.rounds_per_step = round.per_step;
  program.rounds = checked_mul(workload.steps, round.per_step, "rounds of a run");
}

}  // namespace sluice
