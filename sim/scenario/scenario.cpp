#include "scenario/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "document/load.hpp"
#include "fates/strategy.hpp"
#include "model/importer.hpp"
#include "scenario/records.hpp"

namespace sluice {

namespace {

/// The keys that say how to train; each is refused where nothing is trained.
void read_training(Workload& workload, const Reader& reader) {
  if (reader.text("mode") == "inference") {
    for (const char* key : {"optimizer", "gradient_dtype", "optimizer_dtype", "master_weights",
                            "backward", "split_backward"})
      if (reader.has(key))
        reader.fail(key,
                    "'" + std::string(key) + "' is for 'mode: training'; the mode is inference");
    return;
  }
  Training training;
  training.optimizer = &optimizer_catalog().find(reader.text("optimizer"));
  training.weights = workload.dtype;
  training.gradients =
      reader.has("gradient_dtype") ? dtype_of(reader.text("gradient_dtype")) : workload.dtype;
  training.states = dtype_of(reader.text("optimizer_dtype"));
  training.master_weights = reader.boolean("master_weights");
  if (training.master_weights && !training.optimizer->updates)
    reader.fail("master_weights",
                "'master_weights' needs an optimizer that updates weights; it is " +
                    training.optimizer->name);
  training.split_backward = reader.boolean("split_backward");
  training.backward.reset();
  if (!reader.is_word("backward", "per_layer")) training.backward = reader.number("backward");
  workload.training = training;
}

void read_workload(Scenario& scenario, const Value& value) {
  const Reader reader(value, workload_record());
  Workload& workload = scenario.workload;
  workload.dtype = dtype_of(reader.text("dtype"));
  workload.batch = reader.integer("batch");
  workload.micro_batch = reader.has("micro_batch") ? reader.integer("micro_batch") : workload.batch;
  workload.batches_per_step = reader.integer("batches_per_step");
  workload.steps = reader.integer("steps");
  read_training(workload, reader);
  if (workload.batch % workload.micro_batch != 0)
    reader.fail("micro_batch", "'" + std::to_string(workload.micro_batch) +
                                   "' for 'micro_batch' does not divide the batch of " +
                                   std::to_string(workload.batch) + " samples");
  const std::int64_t samples = located(value, [&] {
    return checked_mul(
        checked_mul(workload.batch, workload.batches_per_step, "samples: batch x batches_per_step"),
        workload.steps, "samples: batch x batches_per_step x steps");
  });
  if (workload.micro_batches_per_step() > 1'000'000)
    reader.fail("batches_per_step",
                "a step of " + std::to_string(workload.micro_batches_per_step()) +
                    " micro-batches is unrolled in the plan; at most 1000000 (of " +
                    std::to_string(samples) + " samples): use more steps or larger micro-batches");
}

void read_fates(Scenario& scenario, const Value& fates) {
  const Value* strategy = fates.find("strategy");
  if (strategy && !strategy->is_scalar())
    fail_at(*strategy, std::string(strategy->kind_name()) +
                           " for 'strategy' in fates; known: " + join(fate_catalog().names()));
  const std::string name = strategy ? strategy->text() : "auto";
  scenario.strategy = name;
  if (name == "auto") {
    const Record open = open_fates_record();
    Reader(fates, open);
    return;
  }
  const FateStrategy& entry = located(strategy ? *strategy : fates, [&]() -> const FateStrategy& {
    return fate_catalog().find(name);
  });
  const Record keys = record_of(entry);
  const Reader reader(fates, keys);
  if (!scenario.workload.training && !entry.inference)
    reader.fail("strategy", "'" + name +
                                "' for 'strategy' in fates is for training; of inference "
                                "keep_all and offload_all say where boundary activations go");
}

/// An absent mapping reads as an empty one, at the position of the whole document.
Value mapping_or_empty(const Reader& reader, std::string_view key) {
  if (const Value* value = reader.value(key)) return *value;
  Value empty = Value::make_map();
  const Position position = reader.map().position();
  empty.place(reader.map().source(), position.line, position.column);
  return empty;
}

}  // namespace

const Policy& policy_of(const Value& policy) {
  const Value* name = policy.find("name");
  if (name == nullptr)
    fail_at(policy,
            "missing key 'name' in policy; known policies: " + join(policy_catalog().names()));
  if (!name->is_scalar())
    fail_at(*name, std::string(name->kind_name()) +
                       " for 'name' in policy; known policies: " + join(policy_catalog().names()));
  return located(*name, [&]() -> const Policy& { return policy_catalog().find(name->text()); });
}

bool uses_phases(const Value& policy) {
  const Value* name = policy.find("name");
  const Value* replica = policy.find("replica");
  return (name && name->text() == "phased") || (replica && replica->text() == "phased");
}

std::string Scenario::text() const {
  return to_yaml(document, false);
}

Scenario read_scenario(Value document, const std::string& name) {
  Scenario scenario;
  scenario.name = name;
  scenario.document = std::move(document);
  const Reader reader(scenario.document, scenario_record());
  if (reader.has("question")) scenario.question = reader.text("question");
  scenario.model = read_model(*reader.value("model"));
  scenario.platform = read_platform(*reader.value("platform"));
  const Value workload = mapping_or_empty(reader, "workload");
  read_workload(scenario, workload);
  const Value cost = mapping_or_empty(reader, "cost"), fates = mapping_or_empty(reader, "fates"),
              memory = mapping_or_empty(reader, "memory");
  scenario.cost = &cost_catalog().find(Reader(cost, cost_record()).text("model"));
  read_fates(scenario, fates);
  const Reader rules(memory, memory_record());
  scenario.capacity_enforced = rules.text("capacity") == "enforced";
  scenario.working_set_counted = rules.text("working_set") == "counted";
  const Policy& policy = policy_of(*reader.value("policy"));
  const Record keys = record_of(policy);
  Reader(*reader.value("policy"), keys);  // finds what is wrong with them before anything is cut
  if (const Value* phases = reader.value("phases"); phases && !uses_phases(*reader.value("policy")))
    fail_at(*phases, "'phases' belongs to policy phased; the policy is " + policy.name);
  return scenario;
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return scenario_from(load_file(path), path, overrides);
}

Scenario scenario_from(Value document, const std::string& path,
                       const std::vector<std::string>& overrides) {
  std::vector<std::string> optional;
  for (const Field& field : scenario_record().fields)
    if (field.optional && field.type == Type::mapping) optional.push_back(field.name);
  document = resolve_with_overrides(std::move(document), path, {"model*", "platform"}, overrides,
                                    optional);
  require_format(document, "scenario");
  if (Value* model = document.find("model")) import_definition(*model);
  return read_scenario(std::move(document), std::filesystem::path(path).stem().string());
}

}  // namespace sluice
