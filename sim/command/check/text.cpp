// Writes the report of a check for people.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/quantity.hpp"
#include "command/check/report.hpp"
#include "command/command.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

/// Formats whole numbers in full, and other numbers with ten digits. Ten digits show every difference that exceeds a
/// relative tolerance of 1e-9.
std::string number_text(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) < 1e15;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), whole ? "%.0f" : "%.10g", number);
  return buffer.data();
}

std::string signed_text(double number) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%+.4g", number);
  return buffer.data();
}

std::string value_text(const std::optional<Entry>& entry) {
  if (!entry) return "-";
  if (entry->number) return number_text(*entry->number);
  return entry->text.empty() ? "none" : printable(entry->text);
}

std::string tolerance_text(const std::optional<Entry>& entry) {
  if (!entry || !entry->number) return "-";
  if (entry->atol == 0) return exact(entry->rtol);
  return exact(entry->rtol) + " + " + exact(entry->atol);
}

std::string table_text(const ScenarioVerdict& scenario, bool all) {
  TextTable table{.columns = {left("metric"), right("expected"), right("got"), right("difference"),
                              right("%"), right("tolerance"), left("")},
                  .rows = {}};
  for (const MetricVerdict& metric : scenario.metrics) {
    if (metric.verdict == Verdict::equal && !all) continue;
    const std::optional<double> moved = metric.difference(), share = metric.share();
    table.rows.push_back({printable(words_of(metric.name)), value_text(metric.expected),
                          value_text(metric.got), moved ? signed_text(*moved) : "-",
                          share ? signed_text(100 * *share) : "-", tolerance_text(metric.expected),
                          std::string(words_of(metric.verdict))});
  }
  const std::size_t page = page_width();
  // The table is indented by two characters. So its lines must be two characters shorter than the lines of the page.
  return table.rows.empty() ? "" : table.aligned(page > 2 ? page - 2 : page);
}

std::string input_text(const ScenarioVerdict& scenario) {
  constexpr std::size_t most = 8, longest = 60;
  const auto words = [](const std::string& value) {
    if (value.empty()) return std::string("(nothing)");
    return printable(value.size() <= longest ? value : value.substr(0, longest) + "...");
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(most, scenario.input.size()); ++i) {
    const InputChange& change = scenario.input[i];
    text +=
        printable(change.key) + ": " + words(change.expected) + " -> " + words(change.got) + "\n";
  }
  if (scenario.input.size() > most)
    text += "and " + std::to_string(scenario.input.size() - most) + " more\n";
  return text.empty()
             ? "it differs from the input of the baseline, but the baseline does not contain the keys of that input\n"
             : text;
}

std::string plan_text(const PlanDifference& plan) {
  std::string text;
  for (const std::string& line : plan.lines) text += printable(line) + "\n";
  if (plan.more > 0) text += "and " + std::to_string(plan.more) + " more\n";
  return text;
}

/// Puts a label such as " input: " before the first line. Indents all other lines by the width of the label.
std::string remark(const std::string& label, std::string text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += (result.empty() ? "  " + label : std::string(label.size() + 2, ' ')) + " " +
              text.substr(0, end) + "\n";
    text.erase(0, end + 1);
  }
  return result;
}

std::string remarks(const ScenarioVerdict& scenario, bool all) {
  std::string text = indented(table_text(scenario, all));
  for (const std::string& part : slower_parts(scenario)) text += remark("slower:", printable(part));
  const bool told_above = scenario.state == State::missing || scenario.state == State::error;
  if (!scenario.message.empty() && !told_above) {
    std::string message = scenario.message;
    const std::size_t line = message.find("\ngot: ");
    text +=
        remark("outcome:",
               printable(message.substr(0, line)) +
                   (line == std::string::npos ? "" : "\n" + printable(message.substr(line + 1))));
  }
  if (scenario.input_changed) text += remark("input:", input_text(scenario));
  text += remark("plan:", plan_text(scenario.plan));
  if (!scenario.was_version.empty() && scenario.state != State::equal)
    text +=
        remark("version:", "the baseline was written by Sluice " + printable(scenario.was_version));
  return text;
}

int colour_of(State state) {
  switch (state) {
    case State::equal:
    case State::better:
      return 32;
    case State::changed:
      return 33;
    default:
      return 31;
  }
}

std::string tail_of(const CheckReport& report, std::size_t scenario) {
  return report.result.written[scenario] ? "; its baseline is written" : "";
}

std::string totals(const CheckReport& report) {
  const auto& scenarios = report.result.scenarios;
  std::string text =
      std::to_string(scenarios.size()) + (scenarios.size() == 1 ? " scenario: " : " scenarios: ");
  bool first = true;
  for (const State state :
       {State::equal, State::better, State::changed, State::worse, State::missing, State::error}) {
    const auto count = std::count_if(scenarios.begin(), scenarios.end(),
                                     [&](const auto& one) { return one.state == state; });
    if (count == 0) continue;
    text += (first ? "" : ", ") + std::to_string(count) + " " + std::string(words_of(state));
    first = false;
  }
  return text + "\n";
}

}  // namespace

bool CheckReport::fails(const ScenarioVerdict& scenario) const {
  if (scenario.state == State::error) return true;
  if (update) return false;
  if (strict) return scenario.state != State::equal;
  return scenario.state == State::worse || scenario.state == State::missing;
}

int CheckReport::exit_code() const {
  for (const ScenarioVerdict& scenario : result.scenarios)
    if (scenario.error_code != 0) return scenario.error_code;
  for (const ScenarioVerdict& scenario : result.scenarios)
    if (fails(scenario)) return 1;
  return 0;
}

std::string CheckReport::accept_command() const {
  std::string words;
  for (const std::string& path : result.paths_to_accept()) words += " " + shell_word(path);
  return words.empty() ? ""
                       : "sluice check" + words + " --baseline " + shell_word(folder) + " --update";
}

std::string in_brief(const ScenarioVerdict& scenario) {
  if (scenario.state == State::missing || scenario.state == State::error)
    return printable(scenario.message.substr(0, scenario.message.find('\n')));
  std::string text;
  for (const Verdict verdict : {Verdict::worse, Verdict::better, Verdict::changed})
    if (const std::size_t count = scenario.count(verdict))
      text +=
          (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(words_of(verdict));
  const std::string numbers = std::to_string(scenario.metrics.size()) + " numbers";
  if (!scenario.metrics.empty()) text += text.empty() ? numbers + " equal" : " of " + numbers;
  const auto note = [&](bool is_so, const char* words) {
    if (is_so) text += (text.empty() ? "" : ", ") + std::string(words);
  };
  note(scenario.metrics.empty() && scenario.message.empty(), "infeasible, as expected");
  note(!scenario.message.empty(), "changed outcome");
  note(scenario.input_changed, "changed input");
  note(!scenario.plan.none(), "changed plan");
  return text;
}

std::string scenario_text(const CheckReport& report, std::size_t scenario) {
  const ScenarioVerdict& verdict = report.result.scenarios[scenario];
  std::string text = std::string(words_of(verdict.state)) + ": " + in_brief(verdict) +
                     tail_of(report, scenario) + "\n" + remarks(verdict, report.verbose);
  // The heading of the table may have the codes for bold text, which are removed.
  for (const char* code : {"\x1b[1m", "\x1b[0m"})
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code))
      text.erase(at, std::string_view(code).size());
  return text;
}

std::string check_text(const CheckReport& report) {
  const auto& scenarios = report.result.scenarios;
  std::size_t widest = 0;
  for (const ScenarioVerdict& scenario : scenarios)
    widest = std::max(widest, columns_of(printable(scenario.name)));
  std::string text;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const ScenarioVerdict& scenario = scenarios[i];
    const std::string state =
        coloured(padded(words_of(scenario.state), 7), colour_of(scenario.state));
    text +=
        rows_text(
            {{printable(scenario.name), state + "  " + in_brief(scenario) + tail_of(report, i)}},
            {.label_columns = widest, .page = 0}) +
        remarks(scenario, report.verbose);
  }
  text += totals(report);
  if (const std::string command = report.accept_command(); !command.empty())
    text += "To accept the new and the different results:\n  " + command + "\n";
  return folded(text, page_width());
}

}  // namespace sluice
