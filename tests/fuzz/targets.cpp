#include "fuzz/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/quantity.hpp"
#include "cost/fitted/document.hpp"
#include "document/load.hpp"
#include "document/override.hpp"
#include "document/record.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "fuzz/files.hpp"
#include "model/expression.hpp"
#include "model/importer.hpp"
#include "plan/structure.hpp"
#include "plan/text.hpp"
#include "profile/profile.hpp"
#include "profile/tables/table.hpp"
#include "run/executor.hpp"
#include "scenario/scenario.hpp"
#include "study/check/baseline.hpp"

namespace sluice::test {
namespace {

/// Reads a document and writes it. If the written text is read again, the result must be an equal document.
Value read_document(const std::string& text, const std::string& path) {
  Value document = parse_text(text, path);
  const std::string written = to_yaml(document);
  if (to_yaml(parse_text(written, "written.yaml")) != written)
    throw InternalError("the document differs after it is written and read:\n" + written);
  parse_text(to_json(document), "written.json");
  return document;
}

void read_any_document(const std::string& text, const std::string& path) {
  read_document(text, path);
}

/// Reads a model of another program. The first line of `text` has the keys that a scenario gives to the importer.
void read_imported(const std::string& text, const std::string& path, const std::string& file) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) throw InputError("the text has no line for the keys");
  const Value keys = parse_text(text.substr(0, end), path);
  const Importer& importer = importer_for(file);
  const Record record{.name = "model", .fields = importer.parameters, .open = importer.open};
  const Imported imported =
      importer.read(std::string_view(text).substr(end + 1), file, Reader(keys, record));
  Value use = Value::make_map(), again = Value::make_map();
  use.set("definition", imported.definition);
  again.set("definition", parse_text(to_yaml(imported.definition), "written.yaml"));
  const Model model = read_model(use), written = read_model(again);
  if (model.parameters() != written.parameters() || model.flop() != written.flop() ||
      model.layers.size() != written.layers.size())
    throw InternalError("an imported model differs after it is written and read");
}

void read_onnx_text(const std::string& text, const std::string& path) {
  read_imported(text, path, "m.onnx");
}

void read_pipedream_text(const std::string& text, const std::string& path) {
  read_imported(text, path, "m.graph.txt");
}

void read_baseline_text(const std::string& text, const std::string& path) {
  const std::string written = to_text(baseline_from(parse_text(text, path)));
  if (to_text(baseline_from(parse_text(written, "written.json"))) != written)
    throw InternalError("a baseline differs after it is written and read:\n" + written);
}

/// Writes the profile and reads it again. The two profiles must be equal.
void write_and_read(const Profile& profile) {
  const std::string written = profile_text(profile);
  if (profile_text(parse_profile(written, "written.csv")) != written)
    throw InternalError("a profile differs after it is written and read:\n" + written);
}

/// Reads a profile. The text may also be a table of another program, which Sluice recognises by its heading.
void read_profile_text(const std::string& text, const std::string&) {
  write_and_read(parse_profile(text, "profile.csv"));
}

/// Reads the text as a map of the columns of a small table. The map says what each column means.
void read_map_text(const std::string& text, const std::string& path) {
  static const CsvTable table =
      read_csv(std::make_shared<const Source>(Source{"table.csv",
                                                     "op,b,m,n,k,shape,us,type,note\n"
                                                     "linear(16),1,4,16,8,4x8,7.5,float32,x\n"
                                                     "relu,2,4,16,,4x16;2x3,0.25,float16,\n"}));
  write_and_read(read_by_map(table, parse_text(text, path)));
}

void read_fit_text(const std::string& text, const std::string& path) {
  const std::string written = fit_text(read_fit(parse_text(text, path)));
  (void)read_fit(parse_text(written, "written.yaml"));
}

void read_quantity_text(const std::string& text, const std::string&) {
  const auto dimension = static_cast<Dimension>(text.empty() ? 0 : text.front() & 7);
  const std::string quantity = text.substr(std::min<std::size_t>(1, text.size()));
  const double value = parse_quantity(quantity, dimension, "key");
  if (!(value >= 0) || !std::isfinite(value))
    throw InternalError("a quantity is negative or not finite");
  (void)format_quantity(value, dimension);
  if (dimension == Dimension::bytes) (void)parse_bytes(quantity, "key");
}

void read_expression_text(const std::string& text, const std::string&) {
  (void)evaluate(text, {{"size", 3}, {"layers", std::int64_t{1} << 62}});
}

void read_override_text(const std::string& text, const std::string&) {
  Value document = parse_text("a: {b: [1, {c: 2}], d: x}\n", "document.yaml");
  apply_override(document, parse_override(text), {{"e"}, {{"e", "f"}}});
  parse_text(to_yaml(document), "written.yaml");
}

}  // namespace

void read_model_text(const std::string& text, const std::string& path) {
  Value use = Value::make_map();
  use.set("definition", read_document(text, path));
  const Model model = read_model(use);
  if (model.layers.empty()) throw InternalError("a model without layers");
  (void)model.flop();
}

void read_platform_text(const std::string& text, const std::string& path) {
  Value wrapper = Value::make_map();
  wrapper.set("platform", read_document(text, path));
  resolve_includes(wrapper, path, {"platform"});
  const Platform platform = read_platform(*wrapper.find("platform"));
  for (const Device& device : platform.devices) platform.path(platform.host().name, device.name);
}

void read_scenario_text(const std::string& text, const std::string& path) {
  Value document = read_document(text, path);
  resolve_includes(document, path, {"model*", "platform"});
  require_format(document, "scenario");
  const Scenario scenario = read_scenario(std::move(document), "mutant");
  const bool is_small = scenario.workload.micro_batches_per_step() <= 64;
  if (scenario.cut || is_small)  // The search for an open cut makes whole plans, and takes long.
    if (stages_of(scenario).empty()) throw InternalError("a model without stages");
  if (is_small) to_text(make_plan(scenario));
}

void read_plan_text(const std::string& text, const std::string& path) {
  const Plan plan = plan_from_text(text, path);
  const std::string written = to_text(plan);
  if (to_text(plan_from_text(written, "written")) != written)
    throw InternalError("a plan's text differs after it is read and written:\n" + written);
  check_structure(plan);
  std::int64_t reach = 0;
  for (const Action& action : plan.actions) {
    reach = std::max<std::int64_t>(reach, std::abs(action.ahead));
    for (const Wait& wait : action.waits) reach = std::max<std::int64_t>(reach, wait.distance);
  }
  if (reach < 100) check(plan);
}

namespace {

/// Reads a plan of version 1. `text` is the plan without its first line, which names the format.
void read_first_plan(const std::string& text, const std::string& path) {
  read_plan_text("format: sluice-plan/1\n" + text, path);
}
void read_second_plan(const std::string& text, const std::string& path) {
  read_plan_text("format: sluice-plan/2\n" + text, path);
}

/// Replays the plan twice. The two results must be equal. A replay must end in a deadlock, or give a makespan of at
/// least 0.
void replay_plan_text(const std::string& text, const std::string& path) {
  constexpr std::int64_t most = 20'000;
  const Plan plan = plan_from_text(text, path);
  check_structure(plan);
  check_totals(plan);
  if (executions_of(plan) > most) return;
  const ReplayResult once = replay(plan), again = replay(plan);
  if (once.blocking.has_value() != again.blocking.has_value() || once.makespan != again.makespan)
    throw InternalError("a second replay of a plan gives another result");
  if (!once.blocking && !(once.makespan >= 0))
    throw InternalError("a makespan is negative or not a number");
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets = {
      {"document", read_any_document, "models/mutant"},
      {"model", read_model_text, "models/mutant.yaml"},
      {"stage_table", read_model_text, "models/mutant.json"},
      {"platform", read_platform_text, "platforms/mutant.yaml"},
      {"scenario", read_scenario_text, "scenarios/mutant.yaml"},
      {"plan", read_plan_text, "mutant.plan"},
      {"plan_1", read_first_plan, "mutant.plan"},
      {"plan_2", read_second_plan, "mutant.plan"},
      {"replay", replay_plan_text, "mutant.plan"},
      {"onnx", read_onnx_text, "models/mutant.yaml"},
      {"pipedream", read_pipedream_text, "models/mutant.yaml"},
      {"baseline", read_baseline_text, "mutant.json"},
      {"quantity", read_quantity_text, ""},
      {"expression", read_expression_text, ""},
      {"override", read_override_text, ""},
      {"profile", read_profile_text, "profile.csv"},
      {"profile_hdf5", read_edited_profile, ""},
      {"profile_map", read_map_text, "map.yaml"},
      {"fit", read_fit_text, "fits/mutant.yaml"},
      {"store", read_store_bytes, ""},
      {"trace", read_edited_trace, ""},
  };
  return targets;
}

const FuzzTarget* fuzz_target(std::string_view name) {
  for (const FuzzTarget& target : fuzz_targets())
    if (target.name == name) return &target;
  return nullptr;
}

}  // namespace sluice::test
