#include "study/fits/fits.hpp"

#include <cmath>

#include "base/error.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "scenario/scenario.hpp"
#include "study/fits/card.hpp"

namespace sluice {
namespace {

/// Each plan for a micro-batch has this number of steps. The second half of these steps is in the steady state.
constexpr std::int64_t steps = 5;

/// Returns a platform of one device with unlimited memory, for a request that names no platform.
Value unlimited_platform(const std::string& dtype) {
  return parse_text(
      "format: sluice-platform/1\nname: unlimited\ndevices:\n  device:\n    rate: {" + dtype +
          ": 1TFLOP/s}\n    memory: {capacity: unlimited}\nmemories:\n  host: "
          "{capacity: unlimited}\nlinks:\n  host: {joins: [host, device], bandwidth: 1GB/s}\n",
      "unlimited.yaml");
}

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
    refuse(
        "'sluice fits' searches for the number of samples; to ask about accumulation, use --batch");
  for (const char* key : {"mode", "dtype", "optimizer"})
    if (is({"workload", key})) refuse("use --" + std::string(key) + " instead of an override");
  if (is({"policy"}) || is({"policy", "name"})) refuse("use --policy instead of an override");
  if (is({"fates"}) || is({"fates", "strategy"})) refuse("use --fates instead of an override");
  if (is({"memory"}) || is({"memory", "capacity"}))
    refuse("'sluice fits' needs an enforced capacity; remove this override");
}

/// Returns the scenario for `platform`, with a batch of one sample. The search sets the batch later. Throws InputError.
/// Throws UsageError if an override sets a key that the search sets itself, or that has an option of its own.
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

/// Estimates the share of a card's work that is done after `questions` plans. A card rarely needs more than 40 plans,
/// for which the estimate is 0.985.
double share_after(int questions) {
  return 1 - std::pow(0.9, questions);
}

CardFit card_of(const FitsRequest& request, Scenario scenario, std::size_t number) {
  const std::size_t all = std::max<std::size_t>(1, request.platforms.size());
  int questions = 0;
  const auto on_answer = [&] {
    const double done = static_cast<double>(number) + share_after(++questions);
    if (request.progress) request.progress(done / static_cast<double>(all));
  };
  return Card(std::move(scenario), on_answer).answer(request.batch);
}

/// Returns the result for a platform for which the question cannot be asked: its name and the error.
CardFit refused(const Value& platform, const InputError& error) {
  CardFit fit;
  const Value* name = platform.find("name");
  if (name && name->is_scalar()) fit.platform = name->text();
  fit.error = error.what();
  return fit;
}

}  // namespace

FitsReport fits(const FitsRequest& request) {
  if (request.batch && (*request.batch < 1 || *request.batch > most_samples))
    throw InputError("'" + std::to_string(*request.batch) +
                     "' for 'batch': expected an integer from 1 to " +
                     std::to_string(most_samples));
  std::vector<Value> platforms = request.platforms;
  if (platforms.empty()) platforms.push_back(unlimited_platform(request.dtype));
  FitsReport report;
  std::optional<InputError> first_error;
  bool answered = false;
  for (std::size_t number = 0; number < platforms.size(); ++number) {
    const Value platform = platforms[number];
    try {
      Scenario scenario = scenario_of(request, platform);
      report.model = scenario.model.name;
      report.measured_batch = Card::measured_batch(scenario);
      if (scenario.workload.training)
        report.optimizer = scenario.workload.training->optimizer->name;
      report.cards.push_back(card_of(request, std::move(scenario), number));
      answered = true;
    } catch (const InputError& error) {
      report.cards.push_back(refused(platform, error));
      if (!first_error)
        first_error = error.noted("of platform '" + report.cards[number].platform + "'");
    }
  }
  if (!answered) throw *first_error;
  return report;
}

}  // namespace sluice
