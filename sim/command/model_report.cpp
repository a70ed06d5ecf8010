#include "command/model_report.hpp"

#include "base/quantity.hpp"

#include "command/figures.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

/// How a count or a time is written: for people, or exactly for a CSV.
struct Style {
  bool exactly;
  bool with_macs;
  std::string count(std::int64_t number) const {
    return exactly ? std::to_string(number) : grouped(number);
  }
  std::string nothing() const { return exactly ? "" : "-"; }
  std::string time(double seconds) const {
    return exactly ? exact(1e3 * seconds) : milliseconds(seconds);
  }
};

TextTable counts_table(const std::vector<TableRow>& rows, Style style) {
  TextTable table;
  table.columns = {{"step"},  {"layer", false}, {"type", false}, {"shape"},
                   {"state"}, {"total state"},  {"parameters"},  {"total parameters"},
                   {"MACs"},  {"FLOP"},         {"total FLOP"}};
  for (const TableRow& row : rows) {
    const Layer& layer = *row.layer;
    table.rows.push_back({std::to_string(table.rows.size() + 1), printable(layer.name),
                          printable(layer.type), shape_text(layer.shape), style.count(layer.output),
                          style.count(row.total_state), style.count(layer.parameters),
                          style.count(row.total_parameters),
                          style.with_macs ? style.count(layer.macs) : style.nothing(),
                          style.count(layer.flop), style.count(row.total_flop)});
  }
  return table;
}

void add_times(TextTable& table, std::size_t at, const TableRow::Times& times, Style style) {
  std::vector<std::string>& row = table.rows[at];
  for (const double seconds :
       {times.state, times.total_state, times.total_parameters, times.flop, times.total_flop})
    row.push_back(style.time(seconds));
  row.push_back(times.copies ? style.count(*times.copies) : style.nothing());
}

void add_times_headings(TextTable& table) {
  for (const char* heading : {"state ms", "total state ms", "total parameters ms", "FLOP ms",
                              "total FLOP ms", "copies that fit"})
    table.columns.push_back({heading});
}

TextTable times_table(const std::vector<TableRow>& rows, Style style) {
  TextTable table;
  table.columns = {{"step"}, {"layer", false}};
  add_times_headings(table);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows.push_back({std::to_string(i + 1), printable(rows[i].layer->name)});
    add_times(table, i, *rows[i].times, style);
  }
  return table;
}

std::string summary_text(const TableSummary& summary, const Target& target) {
  const auto ms = [](std::optional<double> seconds) {
    return seconds ? milliseconds(*seconds) + " ms" : std::string("unlimited");
  };
  const auto times = [](std::optional<double> number) {
    return number ? ratio(*number) : std::string("-");
  };
  std::vector<std::pair<std::string, std::string>> rows = {
      {"load all parameters", ms(summary.load_s) + " (" + grouped(summary.parameter_bytes) + " B)"},
      {"fill the device", ms(summary.fill_s)},
      {"copies that fit", times(summary.copies)},
      {"total state", ms(summary.state_s)},
      {"parameters and total state", ms(summary.load_and_state_s)},
      {"parameters and one input", ms(summary.load_and_input_s)},
      {"FLOP", ms(summary.flop_s)},
      {"inferences per load of the parameters", times(summary.inferences_per_load)}};
  std::string text =
      bold(printable(target.platform.name) + ", " + printable(target.device.name)) + ": " +
      format_quantity(target.flop_per_s, Dimension::flop_per_s) + " " +
      std::string(name_of(target.dtype)) + ", " +
      format_quantity(target.bandwidth, Dimension::bytes_per_s) + " from host memory, " +
      (target.device.capacity
           ? format_quantity(static_cast<double>(*target.device.capacity), Dimension::bytes)
           : std::string("unlimited memory")) +
      "\n";
  for (const auto& [label, value] : rows) text += padded(label, 39) + value + "\n";
  return text;
}

}  // namespace

std::string model_csv(const Model& model, const Target* target) {
  const std::vector<TableRow> rows = stage_table(model, target);
  TextTable table = counts_table(rows, {true, knows_macs(model)});
  if (!rows.empty() && rows.front().times) {
    add_times_headings(table);
    for (std::size_t i = 0; i < rows.size(); ++i) add_times(table, i, *rows[i].times, {true, true});
  }
  return table.csv();
}

std::string model_text(const Model& model, const Target* target) {
  const std::vector<TableRow> rows = stage_table(model, target);
  std::string text = bold(printable(model.name));
  if (!model.summary.empty()) text += ": " + printable(model.summary);
  text += "\n\n" + counts_table(rows, {false, knows_macs(model)}).aligned();
  if (!target) return text;
  text += "\n" + times_table(rows, {false, knows_macs(model)}).aligned() + "\n";
  return text + summary_text(summary_of(model, *target), *target);
}

}  // namespace sluice
