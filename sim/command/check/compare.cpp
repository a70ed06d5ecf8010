// Two policies side by side, for people and as JSON.
#include "command/check/report.hpp"
#include "command/figures.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/load.hpp"
#include "study/json.hpp"
#include "trace/export/text.hpp"

namespace sluice {
namespace {

const char* outcome_of(const Measurement& side) {
  if (side.error_code != 0) return "error";
  return side.baseline.outcome == Baseline::Outcome::infeasible ? "infeasible" : "complete";
}

/// Why there are no numbers; empty where there are.
std::string reason_of(const Measurement& side) {
  const std::string& text = side.error_code != 0 ? side.error : side.baseline.message;
  return text.substr(0, text.find('\n'));
}

const Entry* find(const Measurement& side, const EntryName& name) {
  const auto found = side.baseline.entries.find(name);
  return found == side.baseline.entries.end() ? nullptr : &found->second;
}

std::optional<double> number(const Measurement& side, const EntryName& name) {
  const Entry* entry = find(side, name);
  return entry ? entry->number : std::nullopt;
}

std::optional<double> quotient(const SideBySide& row, const EntryName& name) {
  const std::optional<double> a = number(row.a, name), b = number(row.b, name);
  if (!a || !b || *a == 0) return std::nullopt;
  return *b / *a;
}

/// The numbers that one side or both have, in the order in which they are told.
std::vector<EntryName> names_of(const SideBySide& row) {
  std::vector<EntryName> names;
  for (const std::string& metric : side_by_side_metrics()) {
    Entries both = row.a.baseline.entries;
    both.insert(row.b.baseline.entries.begin(), row.b.baseline.entries.end());
    for (const auto& [name, entry] : both)
      if (name.first == metric) names.push_back(name);
  }
  return names;
}

std::string cell(const Measurement& side, const EntryName& name) {
  if (std::string outcome = outcome_of(side); outcome != "complete") return outcome;
  const Entry* entry = find(side, name);
  if (!entry) return "-";
  return entry->number ? figure(*entry->number, entry->unit) : "none";
}

void add_rows(TextTable& table, const SideBySide& row) {
  std::vector<EntryName> names = names_of(row);
  if (names.empty()) names = {{"makespan_s", ""}};  // neither has numbers
  bool first = true;
  for (const EntryName& name : names) {
    const std::optional<double> ratio_of = quotient(row, name);
    table.rows.push_back({first ? printable(row.name) : "", printable(words_of(name)),
                          cell(row.a, name), cell(row.b, name), ratio_of ? ratio(*ratio_of) : "-"});
    first = false;
  }
}

Value side_json(const Measurement& side) {
  Value map = Value::make_map();
  map.set("outcome", json_text(outcome_of(side)));
  const std::string reason = reason_of(side);
  map.set("message", reason.empty() ? Value::make_null() : json_text(valid_utf8(reason)));
  return map;
}

Value row_json(const SideBySide& row) {
  Value map = Value::make_map();
  map.set("scenario", json_text(valid_utf8(row.name)));
  map.set("path", json_text(valid_utf8(row.path)));
  map.set("a", side_json(row.a));
  map.set("b", side_json(row.b));
  Value metrics = Value::make_list();
  const auto or_null = [](const std::optional<double>& value) {
    return value ? json_count(*value) : Value::make_null();
  };
  for (const EntryName& name : names_of(row)) {
    const Entry* entry = find(row.a, name) ? find(row.a, name) : find(row.b, name);
    Value metric = Value::make_map();
    metric.set("metric", json_text(name.first));
    metric.set("key", name.second.empty() ? Value::make_null() : json_text(name.second));
    metric.set("unit", entry->unit.empty() ? Value::make_null() : json_text(entry->unit));
    metric.set("better", json_text(words_of(entry->better)));
    metric.set("a", or_null(number(row.a, name)));
    metric.set("b", or_null(number(row.b, name)));
    metric.set("ratio", or_null(quotient(row, name)));
    metrics.items().push_back(std::move(metric));
  }
  map.set("metrics", std::move(metrics));
  return map;
}

}  // namespace

int SideBySideReport::exit_code() const {
  for (const SideBySide& row : rows)
    for (const Measurement* side : {&row.a, &row.b})
      if (side->error_code != 0) return side->error_code;
  return 0;
}

std::string side_by_side_text(const SideBySideReport& report) {
  std::string text = "A: " + printable(report.a) + "\nB: " + printable(report.b) + "\n\n";
  TextTable table{{{"scenario", false}, {"metric", false}, {"A"}, {"B"}, {"B / A"}}, {}};
  for (const SideBySide& row : report.rows) add_rows(table, row);
  text += table.aligned();
  for (const SideBySide& row : report.rows)
    for (const auto& [letter, side] : {std::pair("A", &row.a), std::pair("B", &row.b)})
      if (const std::string reason = reason_of(*side); !reason.empty())
        text += "\n" + printable(row.name) + ", " + letter + ": " + printable(reason) + "\n";
  return text;
}

std::string side_by_side_json(const SideBySideReport& report) {
  Value document = Value::make_map();
  document.set("format", json_text("sluice-comparison/1"));
  document.set("a", json_text(valid_utf8(report.a)));
  document.set("b", json_text(valid_utf8(report.b)));
  Value rows = Value::make_list();
  for (const SideBySide& row : report.rows) rows.items().push_back(row_json(row));
  document.set("scenarios", std::move(rows));
  return to_json(document);
}

}  // namespace sluice
