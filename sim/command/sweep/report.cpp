#include "command/sweep/report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "metrics/metric.hpp"
#include "study/sweep/findings.hpp"

namespace sluice {

namespace {

constexpr std::size_t most_rows = 40;  ///< the greatest number of rows in the table
constexpr std::size_t most_lines = 8;  ///< the greatest number of lines with findings of one kind
/// Number of bytes of text that are collected before the text is printed.
constexpr std::size_t piece = 1 << 20;

/// An axis is a varied key. A point is one combination of values, with one value for each axis. Returns the indices of
/// the axes with several values.
std::vector<std::size_t> varied_axes(const Points& points) {
  std::vector<std::size_t> varied;
  for (std::size_t a = 0; a < points.axes().size(); ++a)
    if (points.axes()[a].values.size() > 1) varied.push_back(a);
  return varied;
}

std::string last_words(const std::string& key, std::size_t count) {
  std::size_t at = key.size();
  for (; count > 0 && at != std::string::npos; --count) at = key.rfind('.', at - 1);
  return at == std::string::npos ? key : key.substr(at + 1);
}

/// Shortens each key to its last words. For example, "platform.links.host.bandwidth" becomes "bandwidth" or
/// "host.bandwidth". A shortened key has the fewest words that distinguish it from all other keys.
std::vector<std::string> short_keys(const std::vector<std::string>& keys) {
  std::vector<std::string> shortest;
  for (const std::string& key : keys) {
    std::size_t words = 1;
    const auto is_ambiguous = [&] {
      return std::count_if(keys.begin(), keys.end(), [&](const std::string& other) {
               return last_words(other, words) == last_words(key, words);
             }) > 1;
    };
    while (is_ambiguous() && last_words(key, words) != key) ++words;
    shortest.push_back(last_words(key, words));
  }
  return shortest;
}

std::string title(const SweepReport& report) {
  std::vector<std::string> axes;
  for (const std::size_t a : varied_axes(report.points))
    axes.push_back(report.points.axes()[a].key + " (" +
                   std::to_string(report.points.axes()[a].values.size()) + ")");
  const bool grid = report.points.over() == Over::grid;
  std::string text =
      printable(report.scenario) + ": " + plural(report.result.points.size(), "point");
  if (report.result.points.size() < report.points.size())
    text += " of " + grouped(static_cast<std::int64_t>(report.points.size()));
  if (!axes.empty()) text += ", " + join(axes, grid ? " x " : ", ");
  return bold(printable(text)) + "\n";
}

std::string unit_of(const std::string& number) {
  return metric_catalog().find(metric_of(number)).unit;
}

std::string table_text(const SweepReport& report) {
  const Points& points = report.points;
  const std::vector<std::size_t> varied = varied_axes(points);
  std::vector<std::string> keys;
  for (const std::size_t a : varied) keys.push_back(points.axes()[a].key);
  TextTable table;
  for (const std::string& key : short_keys(keys)) table.columns.push_back(right(printable(key)));
  for (const std::string& metric : report.metrics)
    table.columns.push_back(right(printable(metric)));
  table.columns.push_back(left(""));
  const std::size_t rows = std::min(most_rows, report.result.points.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const PointResult& outcome = report.result.outcomes[i];
    const bool complete = outcome.status == PointResult::Status::complete;
    table.rows.emplace_back();
    for (const std::size_t a : varied)
      table.rows.back().push_back(printable(points.value(report.result.points[i], a)));
    for (const std::string& metric : report.metrics) {
      const double number = outcome.number(metric);
      table.rows.back().push_back(std::isfinite(number) ? figure(number, unit_of(metric)) : "-");
    }
    table.rows.back().push_back(complete ? "" : std::string(name_of(outcome.status)));
  }
  std::string text = table.aligned();
  if (report.result.points.size() > rows)
    text += "... and " + plural(report.result.points.size() - rows, "point") +
            "; --csv and --json print all points\n";
  return text;
}

/// Returns KEY=VALUE of a point for each axis that has several values.
std::string values_text(const SweepReport& report, std::size_t place) {
  std::vector<std::string> values;
  for (const std::size_t a : varied_axes(report.points))
    values.push_back(report.points.axes()[a].key + "=" +
                     report.points.value(report.result.points[place], a));
  return printable(values.empty() ? "the only point" : join(values, " "));
}

void add_best(LabelledRows& rows, const SweepReport& report) {
  const std::string& metric = report.metrics.front();
  if (const auto place = best_place(report.result, metric))
    rows.emplace_back(
        "best", figure(report.result.outcomes[*place].number(metric), unit_of(metric)) + " (" +
                    printable(metric) + ") at " + values_text(report, *place));
  else if (!has_direction(metric))
    rows.emplace_back("best", "not known, because neither a small nor a large '" +
                                  printable(metric) +
                                  "' is better; name another metric first in --metrics");
}

/// Adds a line for each empty column. A column is empty if all points that ran lack its number.
void add_absent(LabelledRows& rows, const SweepReport& report) {
  if (report.result.count(PointResult::Status::complete) == 0) return;
  for (const std::string& metric : report.metrics) {
    const auto has = [&](const PointResult& outcome) {
      return std::isfinite(outcome.number(metric));
    };
    if (std::any_of(report.result.outcomes.begin(), report.result.outcomes.end(), has)) continue;
    std::string text = "no point has the number '" + metric + "'";
    const std::vector<std::string> others = numbers_of_metric(report.result, metric_of(metric));
    if (others.front() != metric && others.front() != metric_of(metric))
      text += "; there are: " + join(others);
    rows.emplace_back("absent", printable(text));
  }
}

void add_crossings(LabelledRows& rows, const SweepReport& report) {
  const std::vector<HiddenFrom> all = crossings(report.points, report.result);
  for (std::size_t i = 0; i < std::min(all.size(), most_lines); ++i) {
    const std::string where =
        all[i].others.empty() ? "" : " at " + printable(join(all[i].others, " "));
    const std::string from = all[i].everywhere ? "hidden everywhere"
                             : all[i].from.empty()
                                 ? "not hidden even with the largest value"
                                 : "hidden from " + printable(all[i].from) + " on";
    rows.emplace_back(i == 0 ? "transfers" : "", from + where);
  }
  if (all.size() > most_lines)
    rows.emplace_back("", "... and " + std::to_string(all.size() - most_lines) + " more");
  if (!all.empty())
    rows.emplace_back("", "(hidden: computation waits for transfers for at most " +
                              percent(hidden_share) + " of the time, first loads included)");
}

std::string executed_text(const SweepReport& report) {
  const SweepResult& result = report.result;
  std::string text = plural(result.ran, "point") + " ran";
  if (result.from_store > 0)
    text += ", " + plural(result.from_store, "point") + " taken from the store";
  if (result.verified > 0)
    text += ", " + plural(result.verified, "point") + " repeated by SimGrid with equal results";
  return text;
}

/// Returns the names of all numbers, in the order in which they first occur.
NumberNames all_names(const SweepResult& result) {
  NumberNames names;
  std::map<std::string, bool> known;
  std::vector<const NumberNames*> read;
  for (const PointResult& outcome : result.outcomes) {
    if (!outcome.names || std::find(read.begin(), read.end(), outcome.names.get()) != read.end())
      continue;
    read.push_back(outcome.names.get());
    for (const NumberName& name : *outcome.names)
      if (known.emplace(name.text(), true).second) names.push_back(name);
  }
  return names;
}

/// Makes rows of numbers in the order of `names`. If an outcome lacks a number, the row has NaN.
class Numbers {
 public:
  explicit Numbers(const NumberNames& names) {
    for (std::size_t i = 0; i < names.size(); ++i) places_[names[i].text()] = i;
  }
  std::vector<double> of(const PointResult& outcome) {
    std::vector<double> row(places_.size(), std::nan(""));
    if (!outcome.names) return row;
    std::vector<std::size_t>& map = maps_[outcome.names.get()];
    if (map.empty())
      for (const NumberName& name : *outcome.names) map.push_back(places_.at(name.text()));
    for (std::size_t i = 0; i < map.size(); ++i) row[map[i]] = outcome.numbers[i];
    return row;
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::map<const NumberNames*, std::vector<std::size_t>> maps_;
};

/// Prints the collected text if it has at least `piece` bytes. If `rest` is true, prints the text whatever its length.
void print_piece(std::string& text, bool rest = false) {
  if (text.size() < piece && !rest) return;
  print(text);
  text.clear();
}

Value point_value(const SweepReport& report, std::size_t place, const NumberNames& names,
                  Numbers& numbers) {
  const PointResult& outcome = report.result.outcomes[place];
  Value changes = Value::make_map();
  for (std::size_t a = 0; a < report.points.axes().size(); ++a)
    changes.set(report.points.axes()[a].key,
                json_text(report.points.value(report.result.points[place], a)));
  Value metrics = Value::make_map();
  const std::vector<double> row = numbers.of(outcome);
  for (std::size_t i = 0; outcome.names && i < names.size(); ++i)
    metrics.set(names[i].text(), json_number(row[i]));
  return object(
      {{"changes", std::move(changes)},
       {"status", name_of(outcome.status)},
       {"message", text_or_null(outcome.message)},
       {"infeasible", outcome.shortage.empty() ? Value::make_null()
                                               : parse_text(outcome.shortage, "shortage.json")},
       {"chosen", text_or_null(outcome.chosen)},
       {"bound_by", text_or_null(outcome.bound_by)},
       {"executor", text_or_null(outcome.executor)},
       {"verified", outcome.verified},
       {"metrics", std::move(metrics)}});
}

}  // namespace

std::string plural(std::size_t count, const std::string& word) {
  return grouped(static_cast<std::int64_t>(count)) + " " + word + (count == 1 ? "" : "s");
}

void add_refusals(LabelledRows& rows, const SweepReport& report) {
  const std::vector<Refusal> all = refusals(report.result);
  for (std::size_t i = 0; i < std::min(all.size(), most_lines); ++i)
    rows.emplace_back(std::string(name_of(all[i].status)),
                      plural(all[i].count, "point") + ", the first at " +
                          values_text(report, all[i].place) + ": " +
                          printable(report.result.outcomes[all[i].place].reason));
  if (all.size() > most_lines)
    rows.emplace_back("", "... and " + std::to_string(all.size() - most_lines) + " more reasons");
}

std::string sweep_text(const SweepReport& report) {
  LabelledRows rows;
  add_best(rows, report);
  add_absent(rows, report);
  add_crossings(rows, report);
  add_refusals(rows, report);
  rows.emplace_back("executed", executed_text(report));
  return title(report) + "\n" + table_text(report) + "\n" + rows_text(rows, {.page = page_width()});
}

void print_sweep_csv(const SweepReport& report) {
  const NumberNames names = all_names(report.result);
  Numbers numbers(names);
  std::string text;
  for (const Axis& axis : report.points.axes()) text += csv_cell(axis.key) + ",";
  text += "status,reason,chosen,bound_by";
  for (const NumberName& name : names) text += "," + csv_cell(name.text());
  text += "\r\n";
  for (std::size_t i = 0; i < report.result.points.size(); ++i) {
    const PointResult& outcome = report.result.outcomes[i];
    for (std::size_t a = 0; a < report.points.axes().size(); ++a)
      text += csv_cell(report.points.value(report.result.points[i], a)) + ",";
    text += std::string(name_of(outcome.status)) + "," + csv_cell(outcome.reason) + "," +
            csv_cell(outcome.chosen) + "," + csv_cell(outcome.bound_by);
    for (const double number : numbers.of(outcome))
      text += "," + (std::isfinite(number) ? exact(number) : std::string());
    text += "\r\n";
    print_piece(text);
  }
  print_piece(text, /*rest=*/true);
}

void print_sweep_json(const SweepReport& report) {
  Value axes = Value::make_map();
  for (const Axis& axis : report.points.axes())
    axes.set(axis.key, list_of(axis.values, [](const std::string& value) { return Item(value); }));
  print_points_json(report, object({{"format", "sluice-sweep/1"},
                                    {"scenario", json_text(report.scenario)},
                                    {"axes", std::move(axes)}}));
}

void print_points_json(const SweepReport& report, const Value& head) {
  const NumberNames names = all_names(report.result);
  Numbers numbers(names);
  Value units = Value::make_map();
  for (const NumberName& name : names) units.set(name.text(), text_or_null(name.unit).take());
  std::string text = "{";
  for (const Value::Entry& entry : head.entries())
    text += "\"" + entry.key + "\": " + to_json(entry.value, 0) + ",\n ";
  text += "\"units\": " + to_json(units, 0) + ",\n \"points\": [";
  for (std::size_t i = 0; i < report.result.points.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + to_json(point_value(report, i, names, numbers), 0);
    print_piece(text);
  }
  text += "\n]}\n";
  print_piece(text, /*rest=*/true);
}

}  // namespace sluice
