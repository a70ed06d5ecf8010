#include "document/load.hpp"
#include "document/object.hpp"

#include "command/run/report.hpp"
#include "run/plan_json.hpp"
#include "study/answer/answer.hpp"
#include "trace/summary_json.hpp"

namespace sluice {
namespace {

Value plan_value(const Plan& plan) {
  return object({{"name", plan.name},
                 {"actions", plan.actions.size()},
                 {"iterations", plan.iterations},
                 {"steps_per_iteration", plan.steps_per_iteration},
                 {"iterations_per_step", plan.iterations_per_step},
                 {"facts", json_facts(plan.facts)}});
}

Value stage_value(const Report& report, const Stage& stage) {
  const Model& whole = report.question.scenario->model;
  const std::vector<Layer>& layers =
      (report.question.cut.split ? *report.question.cut.split : whole).layers;
  return object({{"name", stage.name},
                 {"first_layer", layers[stage.first].name},
                 {"last_layer", layers[stage.last].name},
                 {"weight_bytes", stage.weight_bytes},
                 {"input_bytes", stage.input_bytes},
                 {"output_bytes", stage.output_bytes},
                 {"workspace_bytes", stage.workspace_bytes},
                 {"cache_bytes", stage.cache_bytes},
                 {"macs", stage.macs},
                 {"flop", stage.flop}});
}

Value stages_value(const Report& report) {
  if (report.question.scenario)
    return list_of(report.question.cut.stages,
                   [&](const Stage& stage) { return stage_value(report, stage); });
  return list_of(report.plan.stages, [](const std::string& name) {
    return object({{"name", name}});
  });
}

Value pools_value(const Plan& plan) {
  Value map = Value::make_map();
  for (const Pool& pool : plan.pools)
    map.set(pool.name, object({{"capacity_bytes", pool.capacity}, {"enforced", pool.enforced}}));
  return map;
}

Value sureness_value(const Report& report) {
  if (!report.question.scenario) return Value::make_null();
  return certainty_value(certainty_of(*report.question.scenario, report.result.summary));
}

/// Returns the keys with which every answer begins.
Value answer_of(const Question& question, const char* status) {
  const Scenario* scenario = question.scenario ? &*question.scenario : nullptr;
  return object({{"format", "sluice-result/1"},
                 {"scenario", scenario ? Item(scenario->name) : Item(nullptr)},
                 {"question", scenario ? text_or_null(scenario->question) : Item(nullptr)},
                 {"asked", scenario ? Item(asked_value(*scenario)) : Item(nullptr)},
                 {"inputs", scenario ? Item(scenario->document) : Item(nullptr)},
                 {"status", status}});
}

}  // namespace

std::string infeasible_json(const Question& question, const Infeasible& infeasible,
                            const std::optional<Refusal>& refusal) {
  Value root = answer_of(question, "infeasible");
  Value why = object(
      {{"headline", infeasible.headline()},
       {"culprit", refusal && refusal->culprit ? Item(name_of(*refusal->culprit)) : Item(nullptr)},
       {"largest_batch", refusal ? Item(refusal->largest_batch) : Item(nullptr)},
       {"changes", refusal ? list_of(refusal->changes, json_text) : Value::make_list()}});
  const Value shortage = json_shortage(infeasible);
  for (const Value::Entry& entry : shortage.entries()) why.set(entry.key, entry.value);
  root.set("infeasible", std::move(why));
  return to_json(root);
}

std::string report_json(const Report& report) {
  Value root = answer_of(report.question, "complete");
  root.set("certainty", sureness_value(report));
  root.set("notes", notes_value(report.notes));
  root.set("plan", plan_value(report.plan));
  root.set("stages", stages_value(report));
  root.set("pools", pools_value(report.plan));
  root.set("metrics", json_metrics(report.result.summary));
  root.set("units", json_units(report.result.summary));
  root.set("operators", operators_value(report));
  root.set("executor", json_text(std::string(name_of(report.result.executor))));
  root.set("trace", report.trace_path.empty()
                        ? Value::make_null()
                        : object({{"path", report.trace_path},
                                  {"content_sha256", report.result.content_sha256}}));
  return to_json(root);
}

}  // namespace sluice
