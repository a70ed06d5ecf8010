#include "document/load.hpp"

#include "base/quantity.hpp"
#include "command/model/report.hpp"
#include "study/json.hpp"

namespace sluice {
namespace {

Value row_value(const TableRow& row) {
  Value map = Value::make_map();
  for (const ModelColumn& column : model_columns())
    if (row.times || !column.of_platform) map.set(column.key, json_of(column.cell(row)));
  return map;
}

Value totals_value(const ModelReport& report, const RowCounts& total) {
  Value map = Value::make_map();
  const auto count = [&](const char* key, std::int64_t n) { map.set(key, Value::make(n)); };
  count("state", total.state);
  count("parameters", total.parameters);
  count("parameter_bytes", checked_mul(total.parameters, bytes_of(report.dtype), "bytes"));
  count("kept_bytes", total.kept);
  map.set("macs", knows_macs(report.model) ? Value::make(total.macs) : Value::make_null());
  count("flop", total.flop);
  count("backward_flop", total.backward_flop);
  count("read_bytes", total.read);
  count("written_bytes", total.written);
  count("backward_read_bytes", total.backward_read);
  count("backward_written_bytes", total.backward_written);
  return map;
}

Value platform_value(const Model& model, const Target& target, const TableRow::Times& whole) {
  const TableSummary summary = summary_of(model, target);
  Value map = Value::make_map();
  map.set("name", json_text(target.platform.name));
  map.set("device", json_text(target.device.name));
  map.set("dtype", json_text(name_of(target.dtype)));
  map.set("cost", json_text(target.cost.name()));
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
  number("forward_ms", whole.total_forward, 1e3);
  number("backward_ms", whole.total_backward, 1e3);
  return map;
}

}  // namespace

std::string model_json(const ModelReport& report) {
  const std::vector<TableRow> rows = stage_table(report.model, report.dtype, report.target);
  Value root = Value::make_map();
  root.set("format", json_text("sluice-stage-table/1"));
  root.set("model", json_text(report.model.name));
  root.set("summary", json_text(report.model.summary));
  root.set("dtype", json_text(name_of(report.dtype)));
  root.set("totals", totals_value(report, rows.back().total));
  Value layers = Value::make_list();
  for (const TableRow& row : rows) layers.items().push_back(row_value(row));
  root.set("layers", std::move(layers));
  root.set("platform", report.target
                           ? platform_value(report.model, *report.target, *rows.back().times)
                           : Value::make_null());
  return to_json(root);
}

}  // namespace sluice
