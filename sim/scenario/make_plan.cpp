// Turns a scenario into its plan. The model is cut into stages, the policy makes the plan, and the choices that the
// scenario leaves open are made.
#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <set>

#include "base/count_error.hpp"
#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/utf8.hpp"
#include "document/key.hpp"
#include "fates/optimal/report.hpp"
#include "planning/copy_time.hpp"
#include "planning/placement/backing.hpp"
#include "planning/placement/placement_gap.hpp"
#include "planning/placement/placement_key.hpp"
#include "platform/written.hpp"
#include "policy/settle/settle.hpp"
#include "scenario/fast_limit.hpp"
#include "scenario/fit_question.hpp"
#include "scenario/memory_place.hpp"
#include "scenario/open_cuts.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

namespace {

/// Returns the device whose memory the stages must fit: the device on which the policy computes. If the policy computes
/// on all devices, returns the device with the smallest memory.
const Device& device_of(const Scenario& scenario) {
  const Value& keys = scenario.policy.keys.map();
  const std::vector<Device>& devices = scenario.platform.devices;
  if (const Value* device = keys.find("device"))
    return located(*device,
                   [&]() -> const Device& { return scenario.platform.device(device->text()); });
  if (!scenario.policy->all_devices) return devices.front();
  const auto bytes = [](const Device& device) {
    return device.memory().capacity.value_or(std::numeric_limits<std::int64_t>::max());
  };
  return *std::min_element(devices.begin(), devices.end(),
                           [&](const Device& a, const Device& b) { return bytes(a) < bytes(b); });
}

/// Returns the path of a device in the platform's document, such as "devices.gpu" for gpu0 and gpu1.
std::string path_of(const Scenario& scenario, const Device& device) {
  const Value* platform = scenario.document.find("platform");
  const std::vector<WrittenPart> devices =
      platform ? written_parts(*platform, "devices") : std::vector<WrittenPart>{};
  const WrittenPart* written = part_called(devices, device.name);
  return written ? written->path : "devices." + device.name;
}

/// Throws an error for a device that has rates, but no rate for the workload's dtype. The message says what to do.
void require_rate(const Scenario& scenario, const Device& device) {
  const DType dtype = scenario.workload.dtype;
  if (device.rate.count(dtype) || device.rate.empty()) return;
  try {
    device.flop_per_s(dtype);
  } catch (const InputError& error) {
    std::string like = format_quantity(device.rate.begin()->second, Dimension::flop_per_s);
    std::erase(like, ' ');
    throw InputError(std::string(error.what()) +
                     "\n  use one of these types as workload.dtype, or add the rate of " +
                     std::string(name_of(dtype)) + ", as in platform." + path_of(scenario, device) +
                     ".rate." + std::string(name_of(dtype)) + "=" + like);
  }
}

/// Throws an error if the device has no rate for the dtype. This error points to the place where the scenario chooses
/// the dtype. Also throws an error if the cost model cannot price a layer on the device. This error points to the place
/// where the scenario chooses the cost model.
void require_prices(const Scenario& scenario, const Device& device) {
  const DType dtype = scenario.workload.dtype;
  located(place_of(scenario.document, "workload", "dtype"),
          [&] { require_rate(scenario, device); });
  located(place_of(scenario.document, "cost", "model"), [&] {
    if (scenario.workload.training)  // Training also needs the price of a weight update.
      scenario.cost->of({.device = device, .dtype = dtype, .work = {1, 1}});
    for (const Layer& layer : scenario.model.layers)
      scenario.cost->of(query_of(scenario.model, layer, Pass::forward,
                                 scenario.workload.micro_batch, dtype, device));
  });
}

/// Throws an error if the scenario trains a model with a cache of keys and values.
void require_no_cache_in_training(const Scenario& scenario) {
  if (!scenario.workload.training) return;
  for (const Layer& layer : scenario.model.layers)
    if (layer.cached > 0)
      located(place_of(scenario.document, "workload", "mode"), [&] {
        throw InputError(
            "layer '" + layer.name +
            "' decodes with a cache of keys and values ('cached'). There is no backward pass for such a layer: "
            "workload.mode must be inference");
      });
}

std::optional<std::int64_t> state_bytes(const Workload& workload) {
  if (!workload.training) return {};
  const std::int64_t element = bytes_of(workload.training->weights);
  return workload.training->gradient_bytes(element) + workload.training->optimizer_bytes(element);
}

/// Throws an error if the policy may choose the memory of each tensor, but the cost model does not count the bandwidths
/// of memories. Without these bandwidths, no placement is better than another.
void require_counted_memories(const Scenario& scenario) {
  const Value* placement = scenario.policy.keys.map().find("placement");
  if (!placement || scenario.cost.model->counts_memories) return;
  if (placement->text() == "none" || placement->text() == backing) return;
  const Field* const field = find_field(scenario.acting->parameters, "placement");
  if (field && placement->text() == "auto" && !compares_placements(*field)) return;
  fail_at(*placement,
          "a placement needs a cost model that counts the bandwidths of memories, but '" +
              scenario.cost.name() +
              "' does not: use cost.model=roofline, or policy.placement=none");
}

/// Returns whether the scenario's policy has a key that says in which memories of a device tensors are, and the plan
/// does not yet say how far it is from other placements.
bool lacks_placement_gap(const Scenario& scenario, const Plan& plan) {
  const auto has = [](const auto& all, const char* name) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  };
  return scenario.cost.model->counts_memories && has(scenario.acting->parameters, "placement") &&
         !has(plan.facts, "placement_gap");
}

/// Cuts the model into stages as `cut` says. If `cut` is null, the whole model is one stage.
CutModel cut_as(const Scenario& scenario, const Chosen<Cut>* cut) {
  const Device& device = device_of(scenario);
  const auto bandwidth = [&] {
    return copy_time(scenario.platform, scenario.platform.host().name, device.name).bandwidth;
  };
  const auto request = [&](const Model& model) {
    return CutRequest{.model = model,
                      .device = device,
                      .cost = *scenario.cost,
                      .dtype = scenario.workload.dtype,
                      .samples = scenario.workload.micro_batch,
                      .working_set_counted = scenario.working_set_counted,
                      .cut = cut,
                      .state_bytes = state_bytes(scenario.workload),
                      .cached_samples = scenario.workload.samples_per_step(),
                      .one_device = !scenario.policy->all_devices,
                      .micro_batches = scenario.workload.micro_batches_per_step(),
                      .load_bandwidth = bandwidth};
  };
  // If a number of bytes is too large for an integer here, the model is the reason. So this error points to the model.
  return located(place_of(scenario.document, "model", "file"), [&] {
    CutModel made;
    made.split = with_partial_layers(request(scenario.model));
    made.stages = cut_stages(request(made.split ? *made.split : scenario.model));
    return made;
  });
}

/// Returns the strategies for fates. Their plans are then compared. If the scenario names a strategy, the list has only
/// this strategy. In training under a policy that compares no cuts, the list has only the strategy that keeps all
/// activations. In inference without a named strategy, the list has one empty element: the policy then chooses the
/// strategy.
std::vector<std::optional<Chosen<FateStrategy>>> open_fates(const Scenario& scenario) {
  if (scenario.fates || !scenario.workload.training) return {scenario.fates};
  if (!scenario.acting->cuts) return {kept_fates()};
  std::vector<std::optional<Chosen<FateStrategy>>> compared;
  for (const FateStrategy* strategy : fate_catalog().entries())
    if (strategy->compared) compared.emplace_back(plain_fates(*strategy));
  return compared;
}

/// Returns the cut as a scenario chooses it.
Chosen<Cut> chosen_cut(const CutChoice& choice) {
  Value stages = Value::make_map();
  stages.set("cut", Value::make(std::string(choice.cut)));
  if (choice.key) stages.set(choice.key, Value::make(choice.count));
  if (choice.of) stages.set("of", Value::make(std::string(choice.of)));
  if (!choice.after.empty()) {
    Value after = Value::make_list();
    for (const std::int64_t layer : choice.after) after.items().push_back(Value::make(layer));
    stages.set("after", std::move(after));
  }
  return choose_cut(stages);
}

/// Returns the numbers of the layers after which these stages end, without the last stage. If there are more than
/// `most`, returns at most so many of them: those of the places nearest to equal shares of the weights.
std::vector<std::int64_t> places_between(const std::vector<Stage>& stages, std::size_t most) {
  std::vector<std::int64_t> after;
  std::vector<double> before;  // the bytes of the weights before each place
  double all = 0;
  for (const Stage& stage : stages) {
    after.push_back(std::int64_t{stage.last} + 1);
    before.push_back(all += static_cast<double>(stage.weight_bytes));
  }
  after.pop_back();
  before.pop_back();
  if (after.size() <= most) return after;
  std::set<std::int64_t> nearest;
  for (std::size_t share = 1; share <= most; ++share) {
    const double bytes = all * static_cast<double>(share) / static_cast<double>(most + 1);
    const auto place = std::ranges::min_element(
        before, {}, [bytes](double of_place) { return std::abs(of_place - bytes); });
    nearest.insert(after[static_cast<std::size_t>(place - before.begin())]);
  }
  return {nearest.begin(), nearest.end()};
}

/// Returns all cuts into at least CutChoice::joined_from stages in which some neighbouring stages of this cut are
/// joined. If the cut has more than 8 stages, these are cuts only in 7 of the places between its stages. Returns
/// nothing if the cut is not possible.
std::vector<Chosen<Cut>> cuts_that_join(const Scenario& scenario, const CutChoice& choice) try {
  const Chosen<Cut> cut = chosen_cut(choice);
  const std::vector<Stage> stages = cut_as(scenario, &cut).stages;
  constexpr std::size_t most_places = 7;
  const std::vector<std::int64_t> places = places_between(stages, most_places);
  const std::size_t all = (std::size_t{1} << places.size()) - 1;
  std::vector<Chosen<Cut>> cuts;
  for (std::size_t set = 1; set <= all; ++set) {
    const bool same = set == all && places.size() + 1 == stages.size();  // the cut itself
    if (same || std::popcount(set) + 1 < choice.joined_from) continue;
    CutChoice joined{.cut = "explicit"};
    for (std::size_t place = 0; place < places.size(); ++place)
      if (set >> place & 1) joined.after.push_back(places[place]);
    cuts.push_back(chosen_cut(joined));
  }
  return cuts;
} catch (const InputError&) {
  return {};
}

/// Returns an attempt for each cut and each strategy.
std::vector<CutAttempt> attempts_of(const Scenario& scenario, const std::vector<CutModel>& cuts) {
  const std::vector<std::optional<Chosen<FateStrategy>>> strategies = open_fates(scenario);
  std::vector<CutAttempt> attempts;
  for (const CutModel& cut : cuts)
    for (const auto& fates : strategies) {
      const std::string text = cut.compared ? text_of(*cut.compared) : "";
      const std::string fate = strategies.size() > 1 ? "strategy: " + (*fates)->name : "";
      attempts.push_back({request_of(scenario, cut, fates), joined(text, fate)});
    }
  return attempts;
}

/// Returns whether each cut is planned with several fates, or with placements in two memories.
bool plans_many_ways(const Scenario& scenario) {
  return !scenario.fates || (*scenario.fates)->searches ||
         std::ranges::any_of(scenario.platform.devices,
                             [](const Device& device) { return device.memories.size() > 1; });
}

}  // namespace

std::vector<Chosen<Cut>> open_cuts(const Scenario& scenario) {
  std::vector<CutChoice> choices = {{"whole"}};
  if (scenario.acting->cuts)
    choices = scenario.acting->cuts(
        {.mode = scenario.workload.mode(),
         .layers = scenario.model.layers.size(),
         .devices = scenario.platform.devices.size(),
         .many_ways = scenario.workload.training && plans_many_ways(scenario)});
  std::vector<Chosen<Cut>> cuts;
  for (const CutChoice& choice : choices) {
    cuts.push_back(chosen_cut(choice));
    if (choice.joined_from == 0) continue;
    for (Chosen<Cut>& joined : cuts_that_join(scenario, choice)) cuts.push_back(std::move(joined));
  }
  return cuts;
}

std::string text_of(const Chosen<Cut>& cut) {
  std::string text;
  for (const Value::Entry& entry : cut.keys.map().entries()) {
    text += (text.empty() ? "" : ", ") + entry.key + ": ";
    if (entry.value.is_scalar()) {
      text += entry.value.text();
      continue;
    }
    std::string list;
    for (const Value& item : entry.value.items()) list += (list.empty() ? "" : ", ") + item.text();
    text += "[" + list + "]";
  }
  return text;
}

bool same(const CutModel& a, const CutModel& b) {
  const auto layers = [](const CutModel& cut) { return cut.split ? cut.split->layers.size() : 0; };
  return layers(a) == layers(b) && std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(),
                                              b.stages.end(), [](const Stage& x, const Stage& y) {
                                                return x.first == y.first && x.last == y.last &&
                                                       x.name == y.name;
                                              });
}

PolicyRequest request_of(const Scenario& scenario, const CutModel& cut,
                         const std::optional<Chosen<FateStrategy>>& fates) {
  return {.pricing = {cut.split ? *cut.split : scenario.model, cut.stages, scenario.platform,
                      *scenario.cost, scenario.workload.dtype,
                      scenario.workload.training ? &*scenario.workload.training : nullptr},
          .workload = scenario.workload,
          .fates = fates,
          .capacity_enforced = scenario.capacity_enforced,
          .working_set_counted = scenario.working_set_counted,
          .phases = scenario.phases,
          .cut_open = cut.compared.has_value(),
          .fates_open = !scenario.fates && scenario.workload.training,
          .memories_counted = scenario.cost.model->counts_memories};
}

std::vector<CutModel> cut_models(const Scenario& scenario) {
  require_prices(scenario, device_of(scenario));
  require_no_cache_in_training(scenario);
  require_counted_memories(scenario);
  std::vector<CutModel> cuts;
  if (scenario.cut) {
    cuts.push_back(cut_as(scenario, &*scenario.cut));
    return cuts;
  }
  std::exception_ptr refusal;
  for (const Chosen<Cut>& chosen : open_cuts(scenario)) {
    CutModel cut;
    try {
      cut = cut_as(scenario, &chosen);
    } catch (const InputError&) {
      if (!refusal) refusal = std::current_exception();
      continue;  // The cut needs more stages than there are layers, or no cut fits the model.
    }
    cut.compared = chosen;
    const auto is_same = [&](const CutModel& other) { return same(cut, other); };
    if (std::none_of(cuts.begin(), cuts.end(), is_same)) cuts.push_back(std::move(cut));
  }
  if (cuts.empty() && refusal) std::rethrow_exception(refusal);
  return cuts;
}

PlannedScenario plan_scenario(const Scenario& scenario) {
  const std::vector<CutModel> cuts = cut_models(scenario);
  const std::vector<CutAttempt> attempts = attempts_of(scenario, cuts);
  const Keys& keys = scenario.policy.keys;
  // The bytes of the model have been counted above, and were not too large for an integer. So if a number of bytes is
  // too large here, the reason is the number of samples in the workload.
  const Value& samples = place_of(scenario.document, "workload", "batch");
  Settlement settled = located(keys.map(), [&] {
    try {
      return settle(*scenario.policy, attempts, keys.reader());
    } catch (const CountError&) {
      return located(samples, []() -> Settlement { throw; });
    } catch (const MissingRate& missing) {
      fail_at_memory(scenario, missing);
    }
  });
  if (lacks_placement_gap(scenario, settled.plan) &&
      say_gap_in_first_memories(settled.plan, attempts[settled.attempt].request))
    settled.price_again.reset();  // with other prices, the gap would be another
  // The scenario's name comes from the name of a file, which may consist of any bytes. But the text of a plan must be
  // UTF-8.
  settled.plan.name = valid_utf8(scenario.name) + ": " + settled.plan.name;
  settled.plan.facts.emplace_back("cost", scenario.cost.name());
  if (const std::optional<std::int64_t> limit = fast_limit(scenario))
    settled.plan.facts.emplace_back("fast_limit_bytes", *limit, "byte");
  for (const Device& device : scenario.platform.devices)
    if (device.memory().reserved > 0)
      settled.plan.facts.push_back(
          Fact("reserved_bytes", device.memory().reserved, "byte").said_of(device.name));
  check_bounds(settled.plan.facts);
  const CutModel& cut = cuts[settled.attempt / (attempts.size() / cuts.size())];
  return {std::move(settled.plan), cut, attempts[settled.attempt].request.fates,
          std::move(settled.price_again)};
}

FitQuestion ask_whether_fits(const Scenario& scenario) {
  const std::vector<CutModel> cuts = cut_models(scenario);
  return ask_whether_fits(*scenario.policy, attempts_of(scenario, cuts),
                          scenario.policy.keys.reader());
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
