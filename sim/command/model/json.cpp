#include "document/load.hpp"
#include "document/object.hpp"

#include "base/quantity.hpp"
#include "command/model/report.hpp"

namespace sluice {
namespace {

Value row_value(const TableRow& row) {
  Value map = Value::make_map();
  for (const ModelColumn& column : model_columns())
    if (row.times || !column.of_platform) map.set(column.key, json_of(column.cell(row)));
  return map;
}

Value totals_value(const ModelReport& report, const RowCounts& total) {
  return object({
      {"state", total.state},
      {"parameters", total.parameters},
      {"parameter_bytes", checked_mul(total.parameters, bytes_of(report.dtype), "bytes")},
      {"kept_bytes", total.kept},
      {"macs", knows_macs(report.model) ? Item(total.macs) : Item(nullptr)},
      {"flop", total.flop},
      {"backward_flop", total.backward_flop},
      {"read_bytes", total.read},
      {"written_bytes", total.written},
      {"backward_read_bytes", total.backward_read},
      {"backward_written_bytes", total.backward_written},
  });
}

Item milliseconds(std::optional<double> seconds) {
  return seconds ? Item(1e3 * *seconds) : Item(nullptr);
}

Value platform_value(const Model& model, const Target& target, const TableRow::Times& whole) {
  const TableSummary summary = summary_of(model, target);
  return object({
      {"name", target.platform.name},
      {"device", target.device.name},
      {"dtype", name_of(target.dtype)},
      {"cost", target.cost.name()},
      {"flop_per_s", target.flop_per_s},
      {"bandwidth_bytes_per_s", target.bandwidth},
      {"capacity_bytes", target.device.memory().capacity},
      {"parameter_bytes", summary.parameter_bytes},
      {"state_bytes", summary.state_bytes},
      {"input_bytes", summary.input_bytes},
      {"load_ms", milliseconds(summary.load_s)},
      {"fill_ms", milliseconds(summary.fill_s)},
      {"copies_that_fit", summary.copies},
      {"state_ms", milliseconds(summary.state_s)},
      {"load_and_state_ms", milliseconds(summary.load_and_state_s)},
      {"load_and_input_ms", milliseconds(summary.load_and_input_s)},
      {"flop_ms", milliseconds(summary.flop_s)},
      {"inferences_per_load", summary.inferences_per_load},
      {"forward_ms", milliseconds(whole.total_forward)},
      {"backward_ms", milliseconds(whole.total_backward)},
  });
}

}  // namespace

std::string model_json(const ModelReport& report) {
  const std::vector<TableRow> rows = stage_table(report.model, report.dtype, report.target);
  Item platform = nullptr;
  if (report.target) platform = platform_value(report.model, *report.target, *rows.back().times);
  return to_json(object({
      {"format", "sluice-stage-table/1"},
      {"model", report.model.name},
      {"summary", report.model.summary},
      {"dtype", name_of(report.dtype)},
      {"totals", totals_value(report, rows.back().total)},
      {"layers", list_of(rows, row_value)},
      {"platform", platform},
  }));
}

}  // namespace sluice
