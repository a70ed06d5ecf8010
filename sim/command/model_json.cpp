#include "document/load.hpp"

#include "command/json.hpp"
#include "command/model_report.hpp"

namespace sluice {
namespace {

Value row_value(const TableRow& row, std::size_t step, bool with_macs) {
  const Layer& layer = *row.layer;
  Value map = Value::make_map();
  const auto count = [&](const char* key, std::int64_t n) { map.set(key, Value::make(n)); };
  count("step", static_cast<std::int64_t>(step));
  map.set("layer", json_text(layer.name));
  map.set("type", json_text(layer.type));
  Value shape = Value::make_list();
  for (const std::int64_t size : layer.shape) shape.items().push_back(Value::make(size));
  map.set("shape", std::move(shape));
  count("state", layer.output);
  count("total_state", row.total_state);
  count("parameters", layer.parameters);
  count("total_parameters", row.total_parameters);
  map.set("macs", with_macs ? Value::make(layer.macs) : Value::make_null());
  count("flop", layer.flop);
  count("total_flop", row.total_flop);
  if (!row.times) return map;
  const auto time = [&](const char* key, double s) { map.set(key, json_number(1e3 * s)); };
  time("state_ms", row.times->state);
  time("total_state_ms", row.times->total_state);
  time("total_parameters_ms", row.times->total_parameters);
  time("flop_ms", row.times->flop);
  time("total_flop_ms", row.times->total_flop);
  map.set("copies_that_fit",
          row.times->copies ? Value::make(*row.times->copies) : Value::make_null());
  return map;
}

Value platform_value(const Model& model, const Target& target) {
  const TableSummary summary = summary_of(model, target);
  Value map = Value::make_map();
  map.set("name", json_text(target.platform.name));
  map.set("device", json_text(target.device.name));
  map.set("dtype", json_text(name_of(target.dtype)));
  map.set("flop_per_s", json_number(target.flop_per_s));
  map.set("bandwidth_bytes_per_s", json_number(target.bandwidth));
  map.set("capacity_bytes",
          target.device.capacity ? Value::make(*target.device.capacity) : Value::make_null());
  map.set("parameter_bytes", Value::make(summary.parameter_bytes));
  map.set("state_bytes", Value::make(summary.state_bytes));
  map.set("input_bytes", Value::make(summary.input_bytes));
  const auto number = [&](const char* key, std::optional<double> value, double factor) {
    map.set(key, value ? json_number(factor * *value) : Value::make_null());
  };
  number("load_ms", summary.load_s, 1e3);
  number("fill_ms", summary.fill_s, 1e3);
  number("copies_that_fit", summary.copies, 1);
  number("state_ms", summary.state_s, 1e3);
  number("load_and_state_ms", summary.load_and_state_s, 1e3);
  number("load_and_input_ms", summary.load_and_input_s, 1e3);
  number("flop_ms", summary.flop_s, 1e3);
  number("inferences_per_load", summary.inferences_per_load, 1);
  return map;
}

}  // namespace

std::string model_json(const Model& model, const Target* target) {
  const std::vector<TableRow> rows = stage_table(model, target);
  Value root = Value::make_map();
  root.set("format", json_text("sluice-stage-table/1"));
  root.set("model", json_text(model.name));
  root.set("summary", json_text(model.summary));
  Value totals = Value::make_map();
  totals.set("state", Value::make(model.activations()));
  totals.set("parameters", Value::make(model.parameters()));
  totals.set("macs", knows_macs(model) ? Value::make(model.macs()) : Value::make_null());
  totals.set("flop", Value::make(model.flop()));
  root.set("totals", std::move(totals));
  Value layers = Value::make_list();
  for (const TableRow& row : rows)
    layers.items().push_back(row_value(row, layers.items().size() + 1, knows_macs(model)));
  root.set("layers", std::move(layers));
  root.set("platform", target ? platform_value(model, *target) : Value::make_null());
  return to_json(root);
}

}  // namespace sluice
