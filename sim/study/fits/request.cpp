#include "study/fits/request.hpp"

#include "base/error.hpp"
#include "document/load.hpp"
#include "document/override.hpp"

namespace sluice {
namespace {

/// Each plan for a micro-batch has this number of steps. The second half of these steps is in the steady state.
constexpr std::int64_t steps = 5;

}  // namespace

Value unlimited_platform(const std::string& dtype) {
  return parse_text(
      "format: sluice-platform/1\nname: unlimited\ndevices:\n  device:\n    rate: {" + dtype +
          ": 1TFLOP/s}\n    memory: {capacity: unlimited}\nmemories:\n  host: "
          "{capacity: unlimited}\nlinks:\n  host: {joins: [host, device], bandwidth: 1GB/s}\n",
      "unlimited.yaml");
}

namespace {

Value mapping(const std::vector<std::pair<std::string, std::string>>& entries) {
  Value map = Value::make_map();
  for (const auto& [key, text] : entries)
    if (!text.empty()) map.set(key, Value::make(text));
  return map;
}

/// Throws UsageError if the override sets a key that the search sets itself, or that has an option of its own.
void refuse_override(const Override& override) {
  const auto is = [&](std::vector<std::string> path) { return override.path == path; };
  const auto refuse = [&](const std::string& reason) {
    throw UsageError("'" + override.value.source()->text + "': " + reason);
  };
  if (is({"workload"}) || is({"workload", "batch"}) || is({"workload", "micro_batch"}) ||
      is({"workload", "batches_per_step"}) || is({"workload", "steps"}))
    refuse("'sluice fits' searches for the number of samples; to ask about accumulation, use --batch");
  for (const char* key : {"mode", "dtype", "optimizer"})
    if (is({"workload", key})) refuse("use --" + std::string(key) + " instead of an override");
  if (is({"policy"}) || is({"policy", "name"})) refuse("use --policy instead of an override");
  if (is({"fates"}) || is({"fates", "strategy"})) refuse("use --fates instead of an override");
  if (is({"memory"}) || is({"memory", "capacity"}))
    refuse("'sluice fits' needs an enforced capacity; remove this override");
}

}  // namespace

Scenario scenario_of(const FitsRequest& request, Value platform) {
  Value document = mapping({{"format", "sluice-scenario/1"},
                            {"question", "How long does the largest micro-batch that fits take?"}});
  document.set("model", request.model);
  document.set("platform", std::move(platform));
  Value workload =
      mapping({{"mode", request.mode}, {"dtype", request.dtype}, {"optimizer", request.optimizer}});
  workload.set("batch", Value::make(std::int64_t{1}));
  workload.set("steps", Value::make(steps));
  document.set("workload", std::move(workload));
  document.set("stages", mapping({{"cut", "single_tensor"}}));
  document.set("policy", mapping({{"name", request.policy}}));
  document.set("fates", mapping({{"strategy", request.fates}}));
  for (const std::string& text : request.overrides) {
    const Override override = parse_override(text);
    refuse_override(override);
    apply_override(document, override, layout_of(scenario_record()));
  }
  return read_scenario(std::move(document), "fits");
}

}  // namespace sluice
