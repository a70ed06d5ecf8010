// Writes the report of a check for programs and for continuous integration. The formats are JSON, JUnit's XML, and
// GitHub's annotations.
#include <iomanip>
#include <regex>
#include <sstream>

#include "document/load.hpp"
#include "document/object.hpp"
#include "trace/export/text.hpp"

#include "command/check/report.hpp"

namespace sluice {
namespace {

// --- JSON -------------------------------------------------------------------------------------

Item utf8_or_null(const std::string& text) {
  return text_or_null(valid_utf8(text));
}

Item value_json(const std::optional<Entry>& entry) {
  if (!entry) return nullptr;
  return entry->number ? Item(json_count(*entry->number)) : utf8_or_null(entry->text);
}

Value metric_json(const MetricVerdict& metric) {
  const Entry& rules = metric.expected ? *metric.expected : *metric.got;
  const std::optional<double> share = metric.share();
  return object({
      {"metric", metric.name.first},
      {"key", utf8_or_null(metric.name.second)},
      {"unit", utf8_or_null(rules.unit)},
      {"verdict", words_of(metric.verdict)},
      {"expected", value_json(metric.expected)},
      {"got", value_json(metric.got)},
      {"difference", metric.difference()},
      {"percent", share ? Item(100 * *share) : Item(nullptr)},
      {"better", words_of(rules.better)},
      {"rtol", rules.rtol},
      {"atol", rules.atol},
  });
}

Value change_json(const InputChange& change) {
  return object({{"key", change.key},
                 {"expected", utf8_or_null(change.expected)},
                 {"got", utf8_or_null(change.got)}});
}

Value texts_json(const std::vector<std::string>& texts) {
  return list_of(texts, valid_utf8);
}

Value metrics_json(const ScenarioVerdict& scenario, bool verbose) {
  Value metrics = Value::make_list();
  for (const MetricVerdict& metric : scenario.metrics)
    if (verbose || metric.verdict != Verdict::equal) metrics.items().push_back(metric_json(metric));
  return metrics;
}

Value scenario_json(const CheckReport& report, std::size_t number) {
  const ScenarioVerdict& scenario = report.result.scenarios[number];
  return object({
      {"scenario", valid_utf8(scenario.name)},
      {"path", valid_utf8(scenario.path)},
      {"verdict", words_of(scenario.state)},
      {"fails", report.fails(scenario)},
      {"written", bool(report.result.written[number])},
      {"message", utf8_or_null(scenario.message)},
      {"slower", texts_json(slower_parts(scenario))},
      {"input", object({{"changed", scenario.input_changed},
                        {"keys", list_of(scenario.input, change_json)}})},
      {"plan", object({{"changed", !scenario.plan.none()},
                       {"differences", texts_json(scenario.plan.lines)},
                       {"more", scenario.plan.more}})},
      {"metrics", metrics_json(scenario, report.verbose)},
      {"numbers", scenario.metrics.size()},
  });
}

// --- XML ----------------------------------------------------------------------------------------
// Elements and attributes follow the schema junit-10.xsd, by which Jenkins's xUnit plugin reads reports. This schema
// has no attribute for a file. So the text of a test case begins with the path of the scenario.

/// Escapes text for an attribute or an element of XML. XML 1.0 cannot contain control characters.
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
  std::string line;  // An attribute of XML must not contain line breaks.
  for (const char c : value) line += c == '\n' || c == '\t' ? ' ' : c;
  return " " + name + "=\"" + xml(line) + "\"";
}

std::string test_case(const CheckReport& report, std::size_t number) {
  const ScenarioVerdict& scenario = report.result.scenarios[number];
  std::string text =
      "    <testcase" + attribute("classname", "sluice.check") + attribute("name", scenario.name);
  if (scenario.state == State::equal) return text + "/>\n";
  text += ">\n";
  const std::string words(words_of(scenario.state));
  const std::string details =
      scenario.path + "\n" +
      (scenario.state == State::error ? scenario.message + "\n" : scenario_text(report, number));
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

/// Escapes text for the message of a workflow command of GitHub, where some characters have a meaning.
std::string github_text(const std::string& text, std::string_view with_meaning = "%\r\n") {
  std::ostringstream result;
  result << std::hex << std::uppercase << std::setfill('0');
  for (const char c : valid_utf8(text))
    if (with_meaning.find(c) == std::string_view::npos)
      result << c;
    else
      result << '%' << std::setw(2) << static_cast<int>(c);
  return result.str();
}

/// Escapes text for a property of a workflow command of GitHub.
std::string github_property(const std::string& text) {
  return github_text(text, "%\r\n:,");
}

/// An annotation of GitHub has properties that say to which file and line it belongs. Returns these properties. If the
/// place of an error is known, the message of the error begins with FILE:LINE:COLUMN. FILE may be a file that the
/// scenario names.
std::string place_of(const ScenarioVerdict& scenario) {
  static const std::regex place("^([^\n]+):([0-9]+):([0-9]+): error: ");
  std::smatch found;
  if (scenario.state == State::error && std::regex_search(scenario.message, found, place))
    return "file=" + github_property(found[1]) + ",line=" + found[2].str() +
           ",col=" + found[3].str();
  return "file=" + github_property(scenario.path);
}

std::string annotation(const CheckReport& report, std::size_t number) {
  const ScenarioVerdict& scenario = report.result.scenarios[number];
  const std::string kind = report.fails(scenario)            ? "error"
                           : scenario.state == State::better ? "notice"
                                                             : "warning";
  std::string message =
      scenario.state == State::error ? scenario.message : scenario_text(report, number);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return "::" + kind + " " + place_of(scenario) + ",title=" +
         github_property(scenario.name + " is " + std::string(words_of(scenario.state))) +
         "::" + github_text(message) + "\n";
}

}  // namespace

std::string check_json(const CheckReport& report) {
  Value scenarios = Value::make_list();
  for (std::size_t i = 0; i < report.result.scenarios.size(); ++i)
    scenarios.items().push_back(scenario_json(report, i));
  return to_json(object({
      {"format", "sluice-check/1"},
      {"baseline", valid_utf8(report.folder)},
      {"exit_code", report.exit_code()},
      {"accept", utf8_or_null(report.accept_command())},
      {"scenarios", std::move(scenarios)},
  }));
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
