// Writes the report on two policies side by side, for people and as JSON.
#include "base/figures.hpp"
#include "command/check/report.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "trace/export/text.hpp"

namespace sluice {
namespace {

const char* outcome_of(const Measurement& side) {
  if (side.error_code != 0) return "error";
  return side.baseline.outcome == Baseline::Outcome::infeasible ? "infeasible" : "complete";
}

/// A side is one of the two policies. Returns why a side has no numbers, or "" if it has numbers.
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

/// Returns the names of the numbers that at least one side has, in the order of the report.
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
  // If neither side has numbers, one row shows the two outcomes.
  if (names.empty()) names = {{"makespan_s", ""}};
  bool first = true;
  for (const EntryName& name : names) {
    const std::optional<double> ratio_of = quotient(row, name);
    table.rows.push_back({first ? printable(row.name) : "", printable(words_of(name)),
                          cell(row.a, name), cell(row.b, name), ratio_of ? ratio(*ratio_of) : "-"});
    first = false;
  }
}

Value side_json(const Measurement& side) {
  return object(
      {{"outcome", outcome_of(side)}, {"message", text_or_null(valid_utf8(reason_of(side)))}});
}

Item count_or_null(const std::optional<double>& value) {
  return value ? Item(json_count(*value)) : Item(nullptr);
}

Value metric_json(const SideBySide& row, const EntryName& name) {
  const Entry* entry = find(row.a, name) ? find(row.a, name) : find(row.b, name);
  return object({
      {"metric", name.first},
      {"key", text_or_null(name.second)},
      {"unit", text_or_null(entry->unit)},
      {"better", words_of(entry->better)},
      {"a", count_or_null(number(row.a, name))},
      {"b", count_or_null(number(row.b, name))},
      {"ratio", count_or_null(quotient(row, name))},
  });
}

Value row_json(const SideBySide& row) {
  const auto metric = [&](const EntryName& name) { return metric_json(row, name); };
  return object({
      {"scenario", valid_utf8(row.name)},
      {"path", valid_utf8(row.path)},
      {"a", side_json(row.a)},
      {"b", side_json(row.b)},
      {"metrics", list_of(names_of(row), metric)},
  });
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
  TextTable table{
      .columns = {left("scenario"), left("metric"), right("A"), right("B"), right("B / A")},
      .rows = {}};
  for (const SideBySide& row : report.rows) add_rows(table, row);
  text += table.aligned();
  for (const SideBySide& row : report.rows)
    for (const auto& [letter, side] : {std::pair("A", &row.a), std::pair("B", &row.b)})
      if (const std::string reason = reason_of(*side); !reason.empty())
        text += "\n" + printable(row.name) + ", " + letter + ": " + printable(reason) + "\n";
  return text;
}

std::string side_by_side_json(const SideBySideReport& report) {
  return to_json(object({
      {"format", "sluice-comparison/1"},
      {"a", valid_utf8(report.a)},
      {"b", valid_utf8(report.b)},
      {"scenarios", list_of(report.rows, row_json)},
  }));
}

}  // namespace sluice
