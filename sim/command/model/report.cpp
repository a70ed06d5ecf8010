#include "command/model/report.hpp"

#include <algorithm>
#include <cmath>

#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "model/kept.hpp"
#include "trace/export/text.hpp"

namespace sluice {
namespace {

using Columns = std::vector<const ModelColumn*>;
using Rows = std::vector<TableRow>;

TextTable table_of(const Rows& rows, const Columns& columns, std::string (*text)(const Cell&)) {
  TextTable table;
  for (const ModelColumn* column : columns)
    table.columns.push_back({column->heading, !column->words});
  for (const TableRow& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const ModelColumn* column : columns) cells.push_back(text(column->cell(row)));
  }
  return table;
}

/// Returns the columns in which at least one row has a value.
Columns filled(const Rows& rows, Columns columns) {
  std::erase_if(columns, [&](const ModelColumn* column) {
    return std::all_of(rows.begin(), rows.end(), [&](const TableRow& row) {
      return std::holds_alternative<std::monostate>(column->cell(row));
    });
  });
  return columns;
}

/// Returns the table with all columns that fit on the page. If the width of the page has no limit, the table has at
/// most 120 characters per line.
std::string fitted(const Rows& rows, Columns columns) {
  const std::size_t room = page_width() > 0 ? page_width() : 120;
  TextTable table = table_of(rows, columns, text_for_people);
  std::string left_out;
  for (std::size_t width = table.width(); width > room && columns.size() > 2;
       width = table.width()) {
    left_out = columns.back()->key + (left_out.empty() ? "" : ", ") + left_out;
    columns.pop_back();
    table.drop_last();
  }
  return table.aligned() +
         (left_out.empty() ? "" : "Columns left out (--columns): " + left_out + "\n");
}

/// Formats labels and values. The values of all lists begin in the same column.
std::string text_of(const LabelledRows& lines) {
  return rows_text(lines, {.label_columns = 37});
}

std::string bytes_text(std::int64_t bytes) {
  return grouped(bytes) + " B";
}

/// Returns text such as "3.1044 MiB". It has at most four digits after the decimal point, like the sizes in the
/// document 'Memory and computation of networks'.
std::string mebibytes(std::int64_t bytes) {
  const double ten_thousandths = std::round(static_cast<double>(bytes) / 1048576 * 1e4);
  return exact(ten_thousandths / 1e4) + " MiB";
}

std::string totals_text(const ModelReport& report, const RowCounts& total) {
  const Model& model = report.model;
  const std::int64_t bytes = checked_mul(total.parameters, bytes_of(report.dtype), "bytes");
  LabelledRows lines = {
      {"parameters", grouped(total.parameters) + " (" + bytes_text(bytes) + ", " +
                         mebibytes(bytes) + " as " + std::string(name_of(report.dtype)) + ")"},
      {"state per sample", grouped(total.state)},
      {"kept for the backward pass per sample", bytes_text(total.kept)}};
  if (knows_macs(model)) lines.push_back({"MACs per sample", grouped(total.macs)});
  lines.push_back({"FLOP forward and backward per sample",
                   grouped(total.flop) + " + " + grouped(total.backward_flop)});
  return text_of(lines);
}

std::string summary_text(const TableSummary& summary, const Target& target, const TableRow& last) {
  const auto ms = [](std::optional<double> seconds) {
    return seconds ? milliseconds(*seconds) + " ms" : std::string("unlimited");
  };
  const auto times = [](std::optional<double> number) {
    return number ? ratio(*number) : std::string("-");
  };
  LabelledRows lines = {
      {"load all parameters",
       ms(summary.load_s) + " (" + bytes_text(summary.parameter_bytes) + ")"},
      {"fill the device", ms(summary.fill_s)},
      {"copies that fit", times(summary.copies)},
      {"total state", ms(summary.state_s)},
      {"parameters and total state", ms(summary.load_and_state_s)},
      {"parameters and one input", ms(summary.load_and_input_s)},
      {"FLOP", ms(summary.flop_s)},
      {"inferences per load of the parameters", times(summary.inferences_per_load)},
      {"forward and backward by " + target.cost.name(),
       ms(last.times->total_forward) + " + " + ms(last.times->total_backward)}};
  if (const std::string reached = reached_text(*target.cost, target.device, target.dtype);
      !reached.empty())
    lines.emplace_back("", "at " + reached);
  return bold(printable(target.platform.name) + ", " + printable(target.device.name)) + ": " +
         format_quantity(target.flop_per_s, Dimension::flop_per_s) + " " +
         std::string(name_of(target.dtype)) + ", " +
         format_quantity(target.bandwidth, Dimension::bytes_per_s) + " from host memory, " +
         (target.device.memory().capacity ? format_bytes(*target.device.memory().capacity)
                                          : std::string("unlimited memory")) +
         "\n" + text_of(lines);
}

constexpr const char* most_asked =
    "step,layer,shape,parameters,kept_bytes,macs,flop,backward_flop,receptive_field,jump";
constexpr const char* most_asked_times =
    "step,layer,state_ms,total_parameters_ms,forward_ms,total_forward_ms,backward_ms,copies_that_fit";

}  // namespace

std::string model_csv(const ModelReport& report) {
  const Columns columns =
      report.columns.empty() ? columns_named("all", report.target != nullptr) : report.columns;
  return table_of(stage_table(report.model, report.dtype, report.target), columns, text_exactly)
      .csv();
}

std::string model_text(const ModelReport& report) {
  const Rows rows = stage_table(report.model, report.dtype, report.target);
  if (!report.columns.empty()) return table_of(rows, report.columns, text_for_people).aligned();
  std::string text = bold(printable(report.model.name));
  if (!report.model.summary.empty()) text += ": " + printable(report.model.summary);
  const Columns counts = filled(rows, columns_named(most_asked, /*with_platform=*/true));
  text += "\n\n" + fitted(rows, counts) + "\n";
  text += totals_text(report, rows.back().total);
  if (!report.target) return folded(text, page_width());
  const Columns times = columns_named(most_asked_times, /*with_platform=*/true);
  text += "\n" + fitted(rows, times) + "\n";
  return folded(
      text + summary_text(summary_of(report.model, *report.target), *report.target, rows.back()),
      page_width());
}

}  // namespace sluice
