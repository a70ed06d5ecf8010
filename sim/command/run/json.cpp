#include "document/load.hpp"
#include "document/object.hpp"

#include "command/run/report.hpp"
#include "run/plan_json.hpp"
#include "study/answer/answer.hpp"
#include "trace/summary_json.hpp"

namespace sluice {
namespace {

Value plan_value(const Plan& plan) {
  Value map = Value::make_map();
  map.set("name", json_text(plan.name));
  map.set("actions", Value::make(static_cast<std::int64_t>(plan.actions.size())));
  map.set("iterations", Value::make(plan.iterations));
  map.set("steps_per_iteration", Value::make(plan.steps_per_iteration));
  map.set("iterations_per_step", Value::make(plan.iterations_per_step));
  map.set("facts", json_facts(plan.facts));
  return map;
}

Value stage_value(const Report& report, const Stage& stage) {
  const Model& whole = report.question.scenario->model;
  const std::vector<Layer>& layers =
      (report.question.cut.split ? *report.question.cut.split : whole).layers;
  Value map = Value::make_map();
  map.set("name", json_text(stage.name));
  map.set("first_layer", json_text(layers[stage.first].name));
  map.set("last_layer", json_text(layers[stage.last].name));
  map.set("weight_bytes", Value::make(stage.weight_bytes));
  map.set("input_bytes", Value::make(stage.input_bytes));
  map.set("output_bytes", Value::make(stage.output_bytes));
  map.set("workspace_bytes", Value::make(stage.workspace_bytes));
  map.set("cache_bytes", Value::make(stage.cache_bytes));
  map.set("macs", Value::make(stage.macs));
  map.set("flop", Value::make(stage.flop));
  return map;
}

/// Returns the stages. If the input is a plan file, the stages have only names.
Value stages_value(const Report& report) {
  Value list = Value::make_list();
  if (report.question.scenario) {
    for (const Stage& stage : report.question.cut.stages)
      list.items().push_back(stage_value(report, stage));
    return list;
  }
  for (const std::string& name : report.plan.stages) {
    Value map = Value::make_map();
    map.set("name", json_text(name));
    list.items().push_back(std::move(map));
  }
  return list;
}

Value pools_value(const Plan& plan) {
  Value map = Value::make_map();
  for (const Pool& pool : plan.pools) {
    Value one = Value::make_map();
    one.set("capacity_bytes", pool.capacity ? Value::make(*pool.capacity) : Value::make_null());
    one.set("enforced", Value::make(pool.enforced));
    map.set(pool.name, std::move(one));
  }
  return map;
}

Value sureness_value(const Report& report) {
  if (!report.question.scenario) return Value::make_null();
  return certainty_value(certainty_of(*report.question.scenario, report.result.summary));
}

/// Returns the keys with which every answer begins.
Value answer_of(const Question& question, const char* status) {
  const bool is_scenario = question.scenario.has_value();
  Value root = Value::make_map();
  root.set("format", json_text("sluice-result/1"));
  root.set("scenario", is_scenario ? json_text(question.scenario->name) : Value::make_null());
  root.set("question", is_scenario && !question.scenario->question.empty()
                           ? json_text(question.scenario->question)
                           : Value::make_null());
  root.set("asked", is_scenario ? asked_value(*question.scenario) : Value::make_null());
  root.set("inputs", is_scenario ? question.scenario->document : Value::make_null());
  root.set("status", json_text(status));
  return root;
}

}  // namespace

std::string infeasible_json(const Question& question, const Infeasible& infeasible,
                            const std::optional<Refusal>& refusal) {
  Value root = answer_of(question, "infeasible");
  Value why = Value::make_map();
  why.set("headline", json_text(infeasible.headline()));
  why.set("culprit", refusal && refusal->culprit
                         ? json_text(std::string(name_of(*refusal->culprit)))
                         : Value::make_null());
  why.set("largest_batch", refusal && refusal->largest_batch ? Value::make(*refusal->largest_batch)
                                                             : Value::make_null());
  why.set("changes", refusal ? list_of(refusal->changes, json_text) : Value::make_list());
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
  Value trace = Value::make_null();
  if (!report.trace_path.empty()) {
    trace = Value::make_map();
    trace.set("path", json_text(report.trace_path));
    trace.set("content_sha256", json_text(report.result.content_sha256));
  }
  root.set("trace", std::move(trace));
  return to_json(root);
}

}  // namespace sluice
