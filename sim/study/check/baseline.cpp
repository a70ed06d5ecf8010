#include "study/check/baseline.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/sha256.hpp"
#include "document/key.hpp"
#include "document/load.hpp"
#include "document/object.hpp"
#include "trace/export/text.hpp"

namespace sluice {

namespace {

// --- the record -------------------------------------------------------------------------------

const std::vector<std::string>& better_words() {
  static const std::vector<std::string> words = {"lower", "higher", "neither"};
  return words;
}

const Record& entry_record() {
  static const Record record = {
      .name = "metric",
      .summary = "one number or word, with its tolerances",
      .fields = {Key::any("value", "a number, a word, or null"),
                 Key::text("absent", "why the value is null").or_absent(),
                 Key::text("unit", "the unit of the value").or_absent(),
                 Key::choice("better", better_words(), "whether lower or higher values are better"),
                 Key::number("rtol", "the tolerance, as a share of the value").by_default("0"),
                 Key::number("atol", "a tolerance in the metric's unit, in addition to `rtol`")
                     .by_default("0")}};
  return record;
}

const Record& keyed_record() {
  static const Record record = {.name = "metric",
                                .summary = "a number for each key",
                                .fields = {Key::mapping("by", "the numbers by key")}};
  return record;
}

const Record& input_record() {
  static const Record record = {
      .name = "input",
      .summary = "the question that was asked",
      .fields = {
          Key::choice("kind", {"scenario", "plan"}, "whether a scenario or a plan was run"),
          Key::text("sha256", "the hash of the scenario or plan as text"),
          Key::list("text", "the lines of the resolved scenario, unless the text is too long")
              .or_absent(),
      }};
  return record;
}

const Record& baseline_record() {
  static const Record record = {
      .name = "baseline",
      .summary = "the results of a scenario",
      .fields = {
          Key::text("format", "sluice-baseline/1"),
          Key::text("scenario", "the name of the scenario"),
          Key::text("program_version", "the version of the program that wrote this file"),
          Key::mapping("input", "the question that was asked").with_keys(input_record()),
          Key::choice("outcome", {"complete", "infeasible"}, "how the run ended"),
          Key::text("message", "why the scenario is infeasible").or_absent(),
          Key::mapping("metrics", "the numbers by metric"),
      }};
  return record;
}

// --- reading ----------------------------------------------------------------------------------

Entry read_entry(const Value& map, const std::string& word) {
  const Reader reader(map, entry_record(), word);
  const Value& value = *reader.value("value");
  Entry entry;
  if (value.kind() == Value::Kind::integer || value.kind() == Value::Kind::number)
    entry.number = value.as_number();
  else if (value.kind() == Value::Kind::string)
    entry.text = value.text();
  else if (value.kind() != Value::Kind::null)
    reader.fail("value", "expected a number, a word or null for 'value' in " + word + ", got " +
                             std::string(value.kind_name()));
  if (reader.has("absent")) entry.absent = reader.text("absent");
  if (reader.has("unit")) entry.unit = reader.text("unit");
  const auto word_at =
      std::find(better_words().begin(), better_words().end(), reader.text("better"));
  entry.better = static_cast<Metric::Better>(word_at - better_words().begin());
  entry.rtol = reader.number("rtol");
  entry.atol = reader.number("atol");
  return entry;
}

Entries read_entries(const Value& metrics) {
  Entries entries;
  for (const Value::Entry& metric : metrics.entries()) {
    if (!metric.value.find("by")) {
      entries[{metric.key, ""}] = read_entry(metric.value, "metric '" + metric.key + "'");
      continue;
    }
    const Reader reader(metric.value, keyed_record(), "metric '" + metric.key + "'");
    for (const Value::Entry& keyed : reader.value("by")->entries()) {
      const EntryName name{metric.key, keyed.key};
      entries[name] = read_entry(keyed.value, "metric '" + words_of(name) + "'");
    }
  }
  return entries;
}

std::string read_input_text(const Reader& input) {
  const Value* lines = input.value("text");
  if (!lines) return {};
  std::string text;
  for (const Value& line : lines->items()) {
    if (line.kind() != Value::Kind::string) fail_at(line, "expected a line of text in 'text'");
    text += line.text() + "\n";
  }
  if (sha256_of(text) != input.text("sha256"))
    input.fail(
        "sha256",
        "the 'sha256' of input is not the hash of the text of input: the hash or the text was edited");
  return text;
}

// --- writing ----------------------------------------------------------------------------------

Value text_value(std::string_view text) {
  return Value::make(valid_utf8(text));
}

// The keys are set in alphabetical order, since the text of a baseline has sorted keys.
Value entry_value(const Entry& entry) {
  const bool is_word = !entry.text.empty();
  Value map = Value::make_map();
  if (!entry.absent.empty()) map.set("absent", text_value(entry.absent));
  if (!is_word) map.set("atol", json_count(entry.atol));
  map.set("better", text_value(words_of(entry.better)));
  if (!is_word) map.set("rtol", json_count(entry.rtol));
  if (!entry.unit.empty()) map.set("unit", text_value(entry.unit));
  map.set("value", entry.number ? json_count(*entry.number)
                   : is_word    ? text_value(entry.text)
                                : Value::make_null());
  return map;
}

Value entries_value(const Entries& entries) {
  Value metrics = Value::make_map();
  for (const auto& [name, entry] : entries) {  // The entries are sorted by metric, then by key.
    const auto& [metric, key] = name;
    if (key.empty()) {
      metrics.set(metric, entry_value(entry));
      continue;
    }
    if (!metrics.find(metric)) {
      Value keyed = Value::make_map();
      keyed.set("by", Value::make_map());
      metrics.set(metric, std::move(keyed));
    }
    metrics.find(metric)->find("by")->set(key, entry_value(entry));
  }
  return metrics;
}

Value input_value(const Baseline& baseline) {
  Value input = Value::make_map();
  input.set("kind", text_value(baseline.input == Baseline::Input::plan ? "plan" : "scenario"));
  input.set("sha256", text_value(baseline.input_sha256));
  if (baseline.input_text.empty()) return input;
  Value lines = Value::make_list();
  std::istringstream text(baseline.input_text);
  for (std::string line; std::getline(text, line);)
    lines.items().push_back(Value::make(std::move(line)));
  input.set("text", std::move(lines));
  return input;
}

/// Returns one component of a key, with a backslash before each slash and each backslash. The components of a key are
/// joined by slashes, so a slash inside a component must look different.
std::string component(const std::string& name) {
  std::string text;
  for (const char c : valid_utf8(name)) {
    if (c == '/' || c == '\\') text += '\\';
    text += c;
  }
  return text.empty() ? "\\" : text;
}

}  // namespace

std::string words_of(const EntryName& name) {
  return name.second.empty() ? name.first : name.first + "[" + name.second + "]";
}

std::string_view words_of(Metric::Better better) {
  return better_words()[static_cast<std::size_t>(better)];
}

Entries entries_of(const Summary& summary) {
  Entries entries;
  for (const Summary::Metric& metric : summary.metrics) {
    Entry entry;
    entry.unit = metric.unit;
    entry.better = metric_catalog().find(metric.name).better;
    if (metric.value.kind == SummaryValue::Kind::keyed) {
      for (const SummaryValue::Keyed& keyed : metric.value.keyed) {
        std::string key;
        for (const std::string& name : keyed.key) key += (key.empty() ? "" : "/") + component(name);
        entry.number = std::isfinite(keyed.number) ? std::optional(keyed.number) : std::nullopt;
        entries[{metric.name, key}] = entry;
      }
      continue;
    }
    entry.text = metric.value.text;
    if (metric.value.kind == SummaryValue::Kind::number && std::isfinite(metric.value.number))
      entry.number = metric.value.number;
    else
      entry.absent = metric.value.absent;
    entries[{metric.name, ""}] = entry;
  }
  return entries;
}

std::string to_text(const Baseline& baseline) {
  Value document = Value::make_map();
  document.set("format", text_value("sluice-baseline/1"));
  document.set("input", input_value(baseline));
  if (!baseline.message.empty()) document.set("message", text_value(baseline.message));
  document.set("metrics", entries_value(baseline.entries));
  document.set(
      "outcome",
      text_value(baseline.outcome == Baseline::Outcome::complete ? "complete" : "infeasible"));
  document.set("program_version", text_value(baseline.program_version));
  document.set("scenario", text_value(baseline.scenario));
  return to_json(document);
}

Baseline baseline_from(const Value& document) {
  require_format(document, "baseline");
  const Reader reader(document, baseline_record());
  const Reader input(*reader.value("input"), input_record());
  Baseline baseline;
  baseline.scenario = reader.text("scenario");
  baseline.program_version = reader.text("program_version");
  baseline.input = input.text("kind") == "plan" ? Baseline::Input::plan : Baseline::Input::scenario;
  baseline.input_sha256 = input.text("sha256");
  baseline.input_text = read_input_text(input);
  if (reader.text("outcome") == "infeasible") baseline.outcome = Baseline::Outcome::infeasible;
  if (reader.has("message")) baseline.message = reader.text("message");
  baseline.entries = read_entries(*reader.value("metrics"));
  return baseline;
}

}  // namespace sluice
