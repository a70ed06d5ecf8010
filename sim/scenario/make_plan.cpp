// From a scenario to its plan: the model is cut, the policy plans, and what is left open is
// settled.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "planning/copy_time.hpp"
#include "policy/settle.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

namespace {

/// `stages:`, or what `phases: {after: …}` says as an explicit cut.
std::optional<Value> cut_of(const Scenario& scenario) {
  const Value* stages = scenario.document.find("stages");
  const Value* phases = scenario.document.find("phases");
  const Value* after = phases ? phases->find("after") : nullptr;
  if (!after) return stages ? std::optional(*stages) : std::nullopt;
  if (stages)
    fail_at(*after, "'after' in phases and 'stages' both cut the model; give one of them");
  Value cut = Value::make_map();
  cut.place(phases->source(), after->position().line, after->position().column);
  cut.set("cut", Value::make(std::string("explicit")));
  cut.set("after", *after);
  return cut;
}

/// The device that stages are cut for: the policy's, or the smallest of all that take part.
const Device& device_of(const Scenario& scenario) {
  const Value& keys = *scenario.document.find("policy");
  const std::vector<Device>& devices = scenario.platform.devices;
  if (const Value* device = keys.find("device"))
    return located(*device,
                   [&]() -> const Device& { return scenario.platform.device(device->text()); });
  if (!policy_of(keys).all_devices) return devices.front();
  const auto bytes = [](const Device& device) {
    return device.capacity.value_or(std::numeric_limits<std::int64_t>::max());
  };
  return *std::min_element(devices.begin(), devices.end(),
                           [&](const Device& a, const Device& b) { return bytes(a) < bytes(b); });
}

/// Where `key` of `mapping` is chosen, or where it would have been.
const Value& chosen(const Value& document, std::string_view mapping, std::string_view key) {
  const Value* outer = document.find(mapping);
  const Value* inner = outer ? outer->find(key) : nullptr;
  return inner ? *inner : outer ? *outer : document;
}

/// A device that has no rate for the dtype, or a device or a layer that lacks what the cost model
/// needs, is refused where those were chosen.
void require_prices(const Scenario& scenario, const Device& device) {
  const DType dtype = scenario.workload.dtype;
  located(chosen(scenario.document, "workload", "dtype"), [&] { return device.flop_per_s(dtype); });
  located(chosen(scenario.document, "cost", "model"), [&] {
    scenario.cost->seconds({1, 1, 1}, device, dtype);
    for (const Layer& layer : scenario.model.layers)
      scenario.cost->seconds(
          forward_work(scenario.model, layer, scenario.workload.micro_batch, dtype), device, dtype);
  });
}

/// Nothing is trained while it is decoded.
void require_no_cache_in_training(const Scenario& scenario) {
  if (!scenario.workload.training) return;
  for (const Layer& layer : scenario.model.layers)
    if (layer.cached > 0)
      located(chosen(scenario.document, "workload", "mode"), [&] {
        throw InputError("layer '" + layer.name +
                         "' decodes with a cache of keys and values ('cached'), which no backward "
                         "pass goes through: workload.mode must be inference");
      });
}

std::optional<std::int64_t> state_bytes(const Workload& workload) {
  if (!workload.training) return {};
  const std::int64_t element = bytes_of(workload.training->weights);
  return workload.training->gradient_bytes(element) + workload.training->optimizer_bytes(element);
}

/// From host memory to the device that stages are cut for, in byte/s; only the cut by_time asks.
double load_bandwidth(const Scenario& scenario, const Value* stages) {
  const Value* cut = stages ? stages->find("cut") : nullptr;
  if (!cut || !cut->is_scalar() || cut->text() != "by_time")
    return std::numeric_limits<double>::max();
  return copy_time(scenario.platform, scenario.platform.host().name, device_of(scenario).name)
      .bandwidth;
}

/// Cuts the model as `stages` says (null: not at all).
CutModel cut_as(const Scenario& scenario, const Value* stages) {
  const auto request = [&](const Model& model) {
    return CutRequest{model,
                      device_of(scenario),
                      *scenario.cost,
                      scenario.workload.dtype,
                      scenario.workload.micro_batch,
                      scenario.working_set_counted,
                      stages,
                      state_bytes(scenario.workload),
                      scenario.workload.samples_per_step(),
                      !policy_of(*scenario.document.find("policy")).all_devices,
                      scenario.workload.micro_batches_per_step(),
                      load_bandwidth(scenario, stages)};
  };
  CutModel made;
  made.split = with_partial_layers(request(scenario.model));
  made.stages = cut_stages(request(made.split ? *made.split : scenario.model));
  return made;
}

bool is_auto(const Value& stages) {
  const Value* name = stages.find("cut");
  if (!name || !name->is_scalar() || name->text() != "auto") return false;
  for (const Value::Entry& entry : stages.entries())
    if (entry.key != "cut")
      fail_at(entry.value, "'" + entry.key +
                               "' in stages belongs to a cut by name; with 'cut: auto' the whole "
                               "cut is chosen");
  return true;
}

/// `stages:` mappings that a cut is chosen from. They say nothing of the machine's memory.
std::vector<Value> open_cuts(const Scenario& scenario) {
  std::vector<Value> cuts;
  const auto add = [&](const char* cut, const char* key = nullptr, std::int64_t count = 0) {
    Value stages = Value::make_map();
    stages.set("cut", Value::make(std::string(cut)));
    if (key) stages.set(key, Value::make(count));
    cuts.push_back(std::move(stages));
  };
  constexpr std::size_t most_stages = 512;
  const bool short_enough = scenario.model.layers.size() <= most_stages;
  const Value& policy = *scenario.document.find("policy");
  const Value* replica = policy.find("replica");
  const std::string& name = (replica ? replica : policy.find("name"))->text();
  const bool takes_turns = name == "streamed", stays = name == "resident";
  add("whole");
  if (!policy_of(policy).compares) return cuts;
  if (scenario.workload.training) {
    for (const std::int64_t groups : {2, 4, 8, 16, 32})
      if (takes_turns) add("by_weight", "groups", groups);
  } else if (takes_turns) {
    for (const std::int64_t groups : {2, 4, 6, 8, 12, 16, 32, 64})
      add("by_weight", "groups", groups);
  } else if (!stays) {
    const auto devices = static_cast<std::int64_t>(scenario.platform.devices.size());
    if (devices > 1) add("balanced", "count", devices);
    for (const std::int64_t count : {2, 3, 4, 6, 8, 16}) add("balanced", "count", count);
    for (const std::int64_t groups : {2, 3, 4, 6, 8, 16}) add("by_weight", "groups", groups);
  }
  if (short_enough) add("single_tensor");
  if (short_enough) add("per_layer");
  return cuts;
}

bool same(const CutModel& a, const CutModel& b) {
  const auto layers = [](const CutModel& cut) { return cut.split ? cut.split->layers.size() : 0; };
  return layers(a) == layers(b) && std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(),
                                              b.stages.end(), [](const Stage& x, const Stage& y) {
                                                return x.first == y.first && x.last == y.last &&
                                                       x.name == y.name;
                                              });
}

std::string text_of(const Value& stages) {
  std::string text;
  for (const Value::Entry& entry : stages.entries())
    text += (text.empty() ? "" : ", ") + entry.key + ": " + entry.value.text();
  return text;
}

/// The strategies for fates that may be taken: those that need nothing said of single stages.
std::vector<std::string> open_strategies(const Scenario& scenario) {
  const bool open = scenario.strategy == "auto" && scenario.workload.training;
  if (!open || !policy_of(*scenario.document.find("policy")).compares) return {scenario.strategy};
  return {"keep_all", "offload_all", "recompute_all", "checkpoint", "sqrt", "selective"};
}

PolicyRequest request_of(const Scenario& scenario, const CutModel& cut,
                         const std::string& strategy) {
  return {{cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform, *scenario.cost,
           scenario.workload.dtype,
           scenario.workload.training ? &*scenario.workload.training : nullptr},
          scenario.workload,
          strategy,
          scenario.capacity_enforced,
          scenario.working_set_counted,
          scenario.document.find("phases"),
          strategy == scenario.strategy ? scenario.document.find("fates") : nullptr,
          !cut.text.empty()};
}

}  // namespace

std::vector<CutModel> cut_models(const Scenario& scenario) {
  const std::optional<Value> given = cut_of(scenario);
  require_prices(scenario, device_of(scenario));
  require_no_cache_in_training(scenario);
  std::vector<CutModel> cuts;
  if (given && !is_auto(*given)) {
    cuts.push_back(cut_as(scenario, &*given));
    return cuts;
  }
  for (const Value& stages : open_cuts(scenario)) {
    CutModel cut;
    try {
      cut = cut_as(scenario, &stages);
    } catch (const InputError&) {
      continue;  // more stages than there are layers
    }
    cut.text = text_of(stages);
    const auto is_same = [&](const CutModel& other) { return same(cut, other); };
    if (std::none_of(cuts.begin(), cuts.end(), is_same)) cuts.push_back(std::move(cut));
  }
  return cuts;
}

PlannedScenario plan_scenario(const Scenario& scenario) {
  const std::vector<CutModel> cuts = cut_models(scenario);
  const Value& value = *scenario.document.find("policy");
  const Policy& policy = policy_of(value);
  const Record record = record_of(policy);
  const Reader parameters(value, record);
  const std::vector<std::string> strategies = open_strategies(scenario);
  std::vector<CutAttempt> attempts;
  for (const CutModel& cut : cuts)
    for (const std::string& strategy : strategies) {
      const std::string fate = strategies.size() > 1 ? "strategy: " + strategy : "";
      attempts.push_back({request_of(scenario, cut, strategy),
                          cut.text + (cut.text.empty() || fate.empty() ? "" : ", ") + fate});
    }
  Settlement settled = located(value, [&] { return settle(policy, attempts, parameters); });
  settled.plan.name = scenario.name + ": " + settled.plan.name;
  return {std::move(settled.plan), cuts[settled.attempt / strategies.size()]};
}

Plan make_plan(const Scenario& scenario) {
  return plan_scenario(scenario).plan;
}

CutModel cut_model(const Scenario& scenario) {
  std::vector<CutModel> cuts = cut_models(scenario);
  return cuts.size() == 1 ? std::move(cuts.front()) : plan_scenario(scenario).cut;
}

std::vector<Stage> stages_of(const Scenario& scenario) {
  return cut_model(scenario).stages;
}

}  // namespace sluice
