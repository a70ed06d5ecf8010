#include "study/answer/asked.hpp"

#include <algorithm>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "document/object.hpp"

namespace sluice {
namespace {

/// Returns the model's parameters that the scenario sets, and its key `scale`, which multiplies the size of each layer.
/// Example: "tokens=1".
std::vector<std::string> parameters_of(const Scenario& scenario) {
  std::vector<std::string> parameters;
  if (const Value* model = scenario.document.find("model"))
    for (const Value::Entry& entry : model->entries())
      if (entry.value.is_scalar() && entry.key != "file" && entry.key != "name")
        parameters.push_back(entry.key + "=" + entry.value.text());
  return parameters;
}

/// Returns a text that says for each kind of device which shares of its peak rates it reaches under the cost model.
std::string reached_of(const Scenario& scenario) {
  std::vector<std::string> reached;
  for (const Device& device : scenario.platform.devices) {
    if (!device.rate.count(scenario.workload.dtype)) continue;
    const std::string text = reached_text(*scenario.cost, device, scenario.workload.dtype);
    if (!text.empty() && std::find(reached.begin(), reached.end(), text) == reached.end())
      reached.push_back(text);
  }
  return join(reached, "; ");
}

std::string workload_text(const Workload& workload) {
  std::string text =
      std::string(name_of(workload.mode())) + " in " + std::string(name_of(workload.dtype));
  if (workload.training) text += " with " + workload.training->optimizer->name;
  text += ", batch " + std::to_string(workload.batch);
  if (workload.micro_batch != workload.batch)
    text += " in micro-batches of " + std::to_string(workload.micro_batch);
  if (workload.batches_per_step > 1)
    text += ", " + std::to_string(workload.batches_per_step) + " batches per step";
  return text;
}

}  // namespace

std::string asked_text(const Scenario& scenario) {
  const std::vector<std::string> parameters = parameters_of(scenario);
  std::string text = scenario.model.name;
  if (!parameters.empty()) text += " (" + join(parameters) + ")";
  text += " on " + scenario.platform.name + ", " + workload_text(scenario.workload);
  text += ", policy " + scenario.policy->name;
  if (scenario.workload.training)
    text += ", fates " + (scenario.fates ? (*scenario.fates)->name : std::string("chosen"));
  text += ", cost " + scenario.cost.name();
  const std::string reached = reached_of(scenario);
  return reached.empty() ? text : text + " at " + reached;
}

Value asked_value(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const Device& device = scenario.platform.devices.front();
  const Shares shares = scenario.cost->shares(device);
  return object({
      {"text", asked_text(scenario)},
      {"model", scenario.model.name},
      {"parameters", list_of(parameters_of(scenario), [](const std::string& p) { return p; })},
      {"platform", scenario.platform.name},
      {"mode", name_of(workload.mode())},
      {"dtype", name_of(workload.dtype)},
      {"optimizer", workload.training ? Item(workload.training->optimizer->name) : Item(nullptr)},
      {"batch", workload.batch},
      {"micro_batch", workload.micro_batch},
      {"batches_per_step", workload.batches_per_step},
      {"steps", workload.steps},
      {"policy", scenario.policy->name},
      {"cut", scenario.cut ? Item((*scenario.cut)->name) : Item(nullptr)},
      {"fates", scenario.fates ? Item((*scenario.fates)->name) : Item(nullptr)},
      {"cost", scenario.cost.name()},
      {"compute_efficiency", shares.compute},
      {"memory_efficiency", shares.memory},
  });
}

}  // namespace sluice
