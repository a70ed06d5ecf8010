#include "scenario/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "document/key.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "document/places.hpp"
#include "model/importer.hpp"
#include "planning/phased/phases.hpp"
#include "planning/placement/backing.hpp"
#include "planning/placement/placement_key.hpp"
#include "scenario/fast_limit.hpp"
#include "scenario/memory_place.hpp"
#include "scenario/records.hpp"

namespace sluice {

namespace {

/// Reads the workload's keys for training. Throws an error if the mode is inference and one of these keys is given.
void read_training(Workload& workload, const Reader& reader) {
  if (reader.text("mode") == "inference") {
    for (const char* key : {"optimizer", "gradient_dtype", "optimizer_dtype", "master_weights",
                            "backward", "split_backward"})
      if (reader.has(key))
        reader.fail(key, "'" + std::string(key) +
                             "' is only for 'mode: training', but the mode is inference");
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
                "'master_weights' needs an optimizer that updates weights; the optimizer is " +
                    training.optimizer->name);
  training.split_backward = reader.boolean("split_backward");
  if (reader.has("backward")) {
    training.backward.reset();
    if (!reader.is_word("backward", "per_layer")) training.backward = reader.number("backward");
  }
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
                "a step has " + std::to_string(workload.micro_batches_per_step()) +
                    " micro-batches, but the limit is 1000000 (the run has " +
                    std::to_string(samples) + " samples): use more steps or larger micro-batches");
}

/// Returns the folder to which the names of files in the document are relative. The text "" means the working folder.
std::string folder_of(const Value& document) {
  if (!document.source()) return "";
  return std::filesystem::path(document.source()->name).parent_path().string();
}

/// Chooses the cost model. If the workload lacks the key `backward`, also chooses how backward passes are priced: by
/// the cost model itself, or as a multiple of the forward pass.
void choose_cost_of(Scenario& scenario, const Value& cost, const Value& workload) {
  scenario.cost = choose_cost(cost, folder_of(scenario.document), scenario.platform);
  if (!scenario.workload.training || workload.find("backward")) return;
  scenario.workload.training->backward = Training{}.backward;
  if (scenario.cost.model->knows_backward) scenario.workload.training->backward.reset();
}

void read_fates(Scenario& scenario, Value fates) {
  if (!fates.find("strategy")) fates.set("strategy", Value::make(std::string("auto")));
  if (is_open_choice(fates, "fates", "strategy")) return;
  scenario.fates = choose_fates(fates);
  const FateStrategy& strategy = **scenario.fates;
  if (!scenario.workload.training && !strategy.inference)
    scenario.fates->keys.reader().fail(
        "strategy",
        "'" + strategy.name +
            "' for 'strategy' in fates is only for training; in inference, use keep_all or offload_all "
            "for boundary activations");
}

/// Reads the cut. If the scenario has `phases: {after: ...}`, this key becomes an explicit cut. Otherwise the cut comes
/// from `stages:`.
void read_cut(Scenario& scenario, const Value* stages) {
  const Value* after = scenario.phases ? scenario.phases->map().find("after") : nullptr;
  if (!after) {
    if (stages && !is_open_choice(*stages, "stages", "cut")) scenario.cut = choose_cut(*stages);
    return;
  }
  if (stages)
    fail_at(*after, "'after' in phases and 'stages' both cut the model; give only one of them");
  Value cut = Value::make_map();
  const Value& phases = scenario.phases->map();
  cut.place(phases.source(), after->position().line, after->position().column);
  cut.set("cut", Value::make(std::string("explicit")));
  cut.set("after", *after);
  scenario.cut = choose_cut(cut);
}

// --- the declarations of a policy --------------------------------------------------------------

bool honours(const Policy& policy, Mode mode, const FateStrategy& strategy) {
  for (const PlansFor& plans : policy.modes)
    if (plans.mode == mode)
      return plans.fates.empty() ||
             std::find(plans.fates.begin(), plans.fates.end(), strategy.name) != plans.fates.end();
  return false;
}

bool plans_for(const Policy& policy, Mode mode) {
  return std::any_of(policy.modes.begin(), policy.modes.end(),
                     [&](const PlansFor& plans) { return plans.mode == mode; });
}

/// Returns the names of the policies for which the test is true.
template <class Test>
std::string policies_that(Test&& test) {
  std::vector<std::string> names;
  for (const Policy* policy : policy_catalog().entries())
    if (test(*policy)) names.push_back(policy->name);
  return join(names);
}

/// A policy declares for which modes it plans, which fates it honours, and whether it takes phases. If the scenario
/// asks for anything else, throws InputError.
void require_declared(const Scenario& scenario, const Policy& policy) {
  const Mode mode = scenario.workload.mode();
  const std::string mode_name(name_of(mode));
  if (!plans_for(policy, mode))
    fail_at(place_of(scenario.document, "workload", "mode"),
            "policy '" + policy.name + "' does not plan for " + mode_name + ", but for " +
                std::string(name_of(mode == Mode::training ? Mode::inference : Mode::training)) +
                "; policies that plan for " + mode_name + ": " +
                policies_that([&](const Policy& other) { return plans_for(other, mode); }));
  if (scenario.fates && !honours(policy, mode, **scenario.fates)) {
    const FateStrategy& strategy = **scenario.fates;
    std::vector<std::string> known;
    for (const FateStrategy* other : fate_catalog().entries())
      if (honours(policy, mode, *other)) known.push_back(other->name);
    fail_at(place_of(scenario.document, "fates", "strategy"),
            "policy '" + policy.name + "' does not honour the fates '" + strategy.name + "' in " +
                mode_name + "; it honours: " + join(known) + "; policies that honour '" +
                strategy.name + "': " +
                policies_that([&](const Policy& other) { return honours(other, mode, strategy); }));
  }
  if (scenario.phases && !policy.takes_phases)
    fail_at(*scenario.document.find("phases"),
            "policy '" + policy.name + "' does not take 'phases'; policies that take 'phases': " +
                policies_that([](const Policy& other) { return other.takes_phases; }));
}

/// Returns the mapping under `key`. If there is none, returns an empty mapping at the position of the document.
Value mapping_or_empty(const Reader& reader, std::string_view key) {
  if (const Value* value = reader.value(key)) return *value;
  Value empty = Value::make_map();
  const Position position = reader.map().position();
  empty.place(reader.map().source(), position.line, position.column);
  return empty;
}

/// Returns the purpose for which the model is read: training or inference, as the mode of the workload says. An unknown
/// mode counts as inference here. The reader of the workload refuses it later.
Purpose purpose_of(const Value& workload) {
  const Value* mode = workload.find("mode");
  const bool trains = mode && mode->is_scalar() && mode->text() == name_of(Mode::training);
  return trains ? Purpose::training : Purpose::inference;
}

}  // namespace

Chosen<Policy> choose_policy(const Value& policy) {
  return choose(policy_catalog(), policy, "policy", "name");
}

namespace {

/// Returns the names of the devices that compute: those that the policy names. If it names none, these are all devices
/// of the platform, or the first device if the policy uses only one.
std::vector<std::string> computing_devices(const Scenario& scenario, const Policy& policy,
                                           const Value& keys) {
  std::vector<std::string> names;
  const Value* said = keys.find("devices");
  if (!said) said = keys.find("device");
  if (said && said->is_scalar()) names = {said->text()};
  if (said && said->is_list())
    for (const Value& name : said->items()) names.push_back(name.is_scalar() ? name.text() : "");
  for (const Device& device : scenario.platform.devices)
    if (!said && (names.empty() || policy.all_devices)) names.push_back(device.name);
  return names;
}

/// Returns true if the device `name` and the cost model allow the kind of placement that the field `placement` offers.
bool can_place(const Scenario& scenario, const Field& placement, const std::string& name) {
  const Device* device = scenario.platform.device_or_null(name);
  if (!device || device->memories.size() < 2) return false;
  if (compares_placements(placement)) return scenario.cost.model->counts_memories;
  return why_no_backing(scenario.platform, device->name).empty();
}

/// Reads the policy. If the scenario leaves out the key `placement`, and can_place() is true for all devices that
/// compute, the policy gets `placement: auto`.
Chosen<Policy> policy_of(const Scenario& scenario, const Value& policy) {
  Chosen<Policy> chosen = choose_policy(policy);
  const Field* const field =
      find_field(acting_policy(*chosen, chosen.keys.reader()).parameters, "placement");
  if (!field || policy.find("placement")) return chosen;
  for (const std::string& device : computing_devices(scenario, *chosen, policy))
    if (!can_place(scenario, *field, device)) return chosen;
  Value open = policy;
  open.set("placement", Value::make(std::string("auto")));
  return choose_policy(open);
}

}  // namespace

void set_policy(Scenario& scenario, Value policy) {
  scenario.policy = policy_of(scenario, policy);
  scenario.acting = &acting_policy(*scenario.policy, scenario.policy.keys.reader());
  require_declared(scenario, *scenario.acting);
  scenario.document.set("policy", std::move(policy));
}

std::string Scenario::text() const {
  return to_yaml(document) + files_comment(*cost, platform);
}

namespace {

/// Throws an error for a key that stands in the wrong mapping of a scenario, such as `cut` in `policy: {cut:
/// per_layer}`. The error says in which mapping the key belongs. A key that belongs nowhere is refused later, by the
/// reader of its mapping.
void require_right_mappings(const Value& document) {
  for (const Field& field : scenario_record().fields) {
    const Value* mapping = document.find(field.name);
    if (!field.record || field.record->fields.empty() || !mapping || !mapping->is_map()) continue;
    // The parameters of a model may have any names, so they are not checked here.
    if (field.name == "model") continue;
    for (const Value::Entry& entry : mapping->entries()) {
      if (find_field(field.record->fields, entry.key)) continue;
      const std::vector<std::string> places =
          places_of(entry.key, Value::make_map(), &scenario_record());
      if (!places.empty())
        throw InputError(entry.position(), "unknown key '" + entry.key + "' in " + field.name +
                                               did_you_mean_at(entry.key, {}, places));
    }
  }
}

}  // namespace

Scenario read_scenario(Value document, const std::string& name) {
  Scenario scenario;
  scenario.name = name;
  expand_words(document, layout_of(scenario_record()));
  scenario.document = std::move(document);
  const Reader reader(scenario.document, scenario_record());
  require_right_mappings(scenario.document);
  if (reader.has("question")) scenario.question = reader.text("question");
  const Value workload = mapping_or_empty(reader, "workload");
  scenario.model = read_model(*reader.value("model"), purpose_of(workload));
  scenario.platform = read_platform(*reader.value("platform"));
  read_workload(scenario, workload);
  const Value cost = mapping_or_empty(reader, "cost"), fates = mapping_or_empty(reader, "fates"),
              memory = mapping_or_empty(reader, "memory");
  choose_cost_of(scenario, cost, workload);
  read_fates(scenario, fates);
  const Reader rules(memory, memory_record());
  scenario.capacity_enforced = rules.text("capacity") == "enforced";
  scenario.working_set_counted = rules.text("working_set") == "counted";
  limit_fast_memory(scenario);
  if (const Value* phases = reader.value("phases")) scenario.phases = {*phases, phases_record()};
  read_cut(scenario, reader.value("stages"));
  set_policy(scenario, *reader.value("policy"));
  return scenario;
}

namespace {

/// Removes the key `question` if there are overrides, and none of them sets this key. The text of `question` describes
/// the scenario in the file, and may be wrong for the changed scenario.
void drop_untrue_question(Value& document, const std::vector<std::string>& overrides) {
  bool changed = false;
  for (const std::string& text : overrides) {
    const Override override = parse_override(text);
    if (override.path == std::vector<std::string>{"question"}) return;
    changed = true;
  }
  if (!changed) return;
  std::erase_if(document.entries(),
                [](const Value::Entry& entry) { return entry.key == "question"; });
}

}  // namespace

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return scenario_from(load_file(path), path, overrides);
}

namespace {

Value overridden(Value document, const std::string& path,
                 const std::vector<std::string>& overrides) {
  document = resolve_with_overrides(std::move(document), path, {"model*", "platform"}, overrides,
                                    layout_of(scenario_record()));
  require_format(document, "scenario");
  drop_untrue_question(document, overrides);
  return document;
}

}  // namespace

Scenario scenario_from(Value document, const std::string& path,
                       const std::vector<std::string>& overrides) {
  document = overridden(std::move(document), path, overrides);
  if (Value* model = document.find("model")) import_definition(*model);
  return read_scenario(std::move(document), std::filesystem::path(path).stem().string());
}

Scenario with_other_prices(const Scenario& base, const std::string& path,
                           const std::vector<std::string>& overrides) {
  Scenario scenario = base;
  scenario.document = overridden(base.document, path, overrides);
  expand_words(scenario.document, layout_of(scenario_record()));
  const Reader reader(scenario.document, scenario_record());
  scenario.question = reader.has("question") ? reader.text("question") : "";
  scenario.platform = read_platform(*reader.value("platform"));
  choose_cost_of(scenario, mapping_or_empty(reader, "cost"), mapping_or_empty(reader, "workload"));
  limit_fast_memory(scenario);
  scenario.policy = policy_of(scenario, *reader.value("policy"));
  return scenario;
}

}  // namespace sluice
