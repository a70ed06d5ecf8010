// The report of a check for programs and for continuous integration: JSON, JUnit's XML, and
// GitHub's annotations.
#include "document/load.hpp"
#include "trace/export/text.hpp"

#include "command/check/report.hpp"
#include "study/json.hpp"

namespace sluice {
namespace {

// --- JSON -------------------------------------------------------------------------------------

Value text_or_null(const std::string& text) {
  return text.empty() ? Value::make_null() : json_text(valid_utf8(text));
}

Value number_or_null(const std::optional<double>& number) {
  return number ? json_number(*number) : Value::make_null();
}

Value value_json(const std::optional<Entry>& entry) {
  if (!entry) return Value::make_null();
  return entry->number ? json_count(*entry->number) : text_or_null(entry->text);
}

Value metric_json(const MetricVerdict& metric) {
  const Entry& rules = metric.expected ? *metric.expected : *metric.got;
  Value map = Value::make_map();
  map.set("metric", json_text(metric.name.first));
  map.set("key", text_or_null(metric.name.second));
  map.set("unit", text_or_null(rules.unit));
  map.set("verdict", json_text(words_of(metric.verdict)));
  map.set("expected", value_json(metric.expected));
  map.set("got", value_json(metric.got));
  map.set("difference", number_or_null(metric.difference()));
  const std::optional<double> share = metric.share();
  map.set("percent", share ? json_number(100 * *share) : Value::make_null());
  map.set("better", json_text(words_of(rules.better)));
  map.set("rtol", json_number(rules.rtol));
  map.set("atol", json_number(rules.atol));
  return map;
}

Value input_json(const ScenarioVerdict& scenario) {
  Value input = Value::make_map();
  input.set("changed", Value::make(scenario.input_changed));
  Value keys = Value::make_list();
  for (const InputChange& change : scenario.input) {
    Value map = Value::make_map();
    map.set("key", json_text(change.key));
    map.set("expected", text_or_null(change.expected));
    map.set("got", text_or_null(change.got));
    keys.items().push_back(std::move(map));
  }
  input.set("keys", std::move(keys));
  return input;
}

Value texts_json(const std::vector<std::string>& texts) {
  Value list = Value::make_list();
  for (const std::string& text : texts) list.items().push_back(json_text(valid_utf8(text)));
  return list;
}

Value scenario_json(const CheckReport& report, std::size_t number) {
  const ScenarioVerdict& scenario = report.result.scenarios[number];
  Value map = Value::make_map();
  map.set("scenario", json_text(valid_utf8(scenario.name)));
  map.set("path", json_text(valid_utf8(scenario.path)));
  map.set("verdict", json_text(words_of(scenario.state)));
  map.set("fails", Value::make(report.fails(scenario)));
  map.set("written", Value::make(bool(report.result.written[number])));
  map.set("message", text_or_null(scenario.message));
  map.set("slower", texts_json(slower_parts(scenario)));
  map.set("input", input_json(scenario));
  Value plan = Value::make_map();
  plan.set("changed", Value::make(!scenario.plan.none()));
  plan.set("differences", texts_json(scenario.plan.lines));
  plan.set("more", Value::make(static_cast<std::int64_t>(scenario.plan.more)));
  map.set("plan", std::move(plan));
  Value metrics = Value::make_list();
  for (const MetricVerdict& metric : scenario.metrics)
    if (report.verbose || metric.verdict != Verdict::equal)
      metrics.items().push_back(metric_json(metric));
  map.set("metrics", std::move(metrics));
  map.set("numbers", Value::make(static_cast<std::int64_t>(scenario.metrics.size())));
  return map;
}

// --- XML ----------------------------------------------------------------------------------------

/// For an attribute or an element: XML 1.0 has no way to write control characters.
std::string xml(const std::string& text) {
  std::string result;
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (byte < 0x20 && c != '\n' && c != '\t')
      result += "\xEF\xBF\xBD";
    else
      result += c;
  }
  return result;
}

std::string attribute(const std::string& name, const std::string& value) {
  std::string line;  // an attribute holds no line breaks
  for (const char c : value) line += c == '\n' || c == '\t' ? ' ' : c;
  return " " + name + "=\"" + xml(line) + "\"";
}

std::string test_case(const CheckReport& report, std::size_t number) {
  const ScenarioVerdict& scenario = report.result.scenarios[number];
  std::string text = "    <testcase" + attribute("classname", "sluice.check") +
                     attribute("name", scenario.name) + attribute("file", scenario.path);
  if (scenario.state == State::equal) return text + "/>\n";
  text += ">\n";
  const std::string words(words_of(scenario.state));
  const std::string details =
      scenario.state == State::error ? scenario.message + "\n" : scenario_text(report, number);
  if (report.fails(scenario)) {
    const std::string element = scenario.state == State::error ? "error" : "failure";
    text += "      <" + element + attribute("type", words) +
            attribute("message", words + ": " + in_brief(scenario)) + ">" + xml(details) + "</" +
            element + ">\n";
  } else {
    text += "      <system-out>" + xml(details) + "</system-out>\n";
  }
  return text + "    </testcase>\n";
}

// --- GitHub -------------------------------------------------------------------------------------

/// The message of a workflow command, or (`property`) one of its properties.
std::string github_text(const std::string& text, bool property) {
  std::string result;
  for (const char c : valid_utf8(text)) {
    if (c == '%')
      result += "%25";
    else if (c == '\r')
      result += "%0D";
    else if (c == '\n')
      result += "%0A";
    else if (property && c == ':')
      result += "%3A";
    else if (property && c == ',')
      result += "%2C";
    else
      result += c;
  }
  return result;
}

std::string annotation(const CheckReport& report, std::size_t number) {
  const ScenarioVerdict& scenario = report.result.scenarios[number];
  const std::string kind = report.fails(scenario)            ? "error"
                           : scenario.state == State::better ? "notice"
                                                             : "warning";
  std::string message =
      scenario.state == State::error ? scenario.message : scenario_text(report, number);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return "::" + kind + " file=" + github_text(scenario.path, true) + ",title=" +
         github_text(scenario.name + " is " + std::string(words_of(scenario.state)), true) +
         "::" + github_text(message, false) + "\n";
}

}  // namespace

std::string check_json(const CheckReport& report) {
  Value document = Value::make_map();
  document.set("format", json_text("sluice-check/1"));
  document.set("baseline", json_text(valid_utf8(report.folder)));
  document.set("exit_code", Value::make(static_cast<std::int64_t>(report.exit_code())));
  document.set("accept", text_or_null(report.accept_command()));
  Value scenarios = Value::make_list();
  for (std::size_t i = 0; i < report.result.scenarios.size(); ++i)
    scenarios.items().push_back(scenario_json(report, i));
  document.set("scenarios", std::move(scenarios));
  return to_json(document);
}

std::string check_github(const CheckReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.result.scenarios.size(); ++i)
    if (report.result.scenarios[i].state != State::equal) text += annotation(report, i);
  return text;
}

std::string check_junit(const CheckReport& report) {
  const auto& scenarios = report.result.scenarios;
  std::size_t failures = 0, errors = 0;
  for (const ScenarioVerdict& scenario : scenarios) {
    if (scenario.state == State::error)
      ++errors;
    else if (report.fails(scenario))
      ++failures;
  }
  const std::string counts = attribute("name", "sluice check") +
                             attribute("tests", std::to_string(scenarios.size())) +
                             attribute("failures", std::to_string(failures)) +
                             attribute("errors", std::to_string(errors)) + ">\n";
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + "  <testsuite" + counts;
  for (std::size_t i = 0; i < scenarios.size(); ++i) text += test_case(report, i);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace sluice
