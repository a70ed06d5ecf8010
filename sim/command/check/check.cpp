// The command `sluice check` compares the results of scenarios with earlier results, or the results of two policies
// with each other.
#include <filesystem>
#include <memory>

#include "base/part_file.hpp"
#include "command/check/report.hpp"
#include "command/inputs.hpp"
#include "command/output.hpp"
#include "command/page.hpp"
#include "command/terminal.hpp"
#include "scenario/question_bound.hpp"

namespace sluice {
namespace {

constexpr std::size_t most_scenarios = 100'000;

Question read(const std::string& file_or_name) {
  Arguments arguments;
  arguments.positionals = {file_or_name};
  return read_question(arguments);
}

Subject subject_of(const std::string& file_or_name) {
  const auto question = std::make_shared<Question>(read(file_or_name));
  Subject subject;
  subject.name = name_of_path(file_or_name);
  if (question->scenario) {
    subject.input_text = question->scenario->text();
    subject.plan = [question] { return make_plan(*question->scenario); };
    subject.question_bound_s = [question] { return question_bound(*question->scenario).seconds; };
  } else {
    subject.input = Baseline::Input::plan;
    subject.plan = [question] { return *question->plan; };
  }
  return subject;
}

/// Writes a whole error message to standard error. The report has only the first line of the message.
void complain(const std::string& path, const std::string& error) {
  const bool says_where = error.substr(0, error.find('\n')).find(": error: ") != std::string::npos;
  message(says_where ? error : "sluice: " + path + ": " + error);
}

void refuse_to_overwrite_inputs(const Arguments& arguments, const std::string& output) {
  std::error_code ignored;
  for (const std::string& path : arguments.positionals)
    if (std::filesystem::equivalent(path, output, ignored))
      throw UsageError("'" + output + "' for '--junit' is one of the scenarios; give another name");
}

int run_compare(const Arguments& arguments) {
  for (const char* other : {"baseline", "update", "strict", "junit", "verbose"})
    refuse_together(arguments, {"compare", other});
  const std::string format = arguments.text("format", "text");
  if (format == "github")
    throw UsageError("'github' for '--format' is not possible with '--compare'; use text or json");
  const std::vector<std::string>& words = arguments.positionals;
  if (words.size() < 3)
    throw UsageError("'--compare' needs two policies and at least one scenario");
  // Without this check, a third policy would be read as a scenario.
  std::error_code ignored;
  for (auto word = words.begin() + 2; word != words.end(); ++word)
    if (policy_catalog().find_or_null(*word) && !std::filesystem::exists(*word, ignored))
      throw UsageError("'" + *word +
                       "' is a policy, but '--compare' takes only two policies: compare " +
                       words[0] + " with one other policy per command");
  ProgressLine line("runs");
  SideBySideRequest request{
      {words.begin() + 2, words.end()}, PolicyChoice(words[0]), PolicyChoice(words[1])};
  request.jobs = jobs_of(arguments);
  request.read = [](const std::string& path) {
    Question question = read(path);
    if (!question.scenario)
      throw UsageError("'" + path +
                       "' is a plan. --compare changes the policy, and needs scenarios for this");
    return *question.scenario;
  };
  request.progress = line.counter();
  SideBySideReport report{words[0], words[1], side_by_side(request)};
  line.clear();
  for (const SideBySide& row : report.rows)
    for (const Measurement* side : {&row.a, &row.b})
      if (side->error_code != 0) complain(row.path, side->error);
  print(format == "json" ? side_by_side_json(report)
                         : folded(side_by_side_text(report), page_width()));
  return report.exit_code();
}

CheckResult check(const Arguments& arguments, const std::string& folder) {
  ProgressLine line("runs");
  CheckRequest request;
  request.paths = arguments.positionals;
  request.folder = folder;
  request.update = arguments.has("update");
  request.jobs = jobs_of(arguments);
  request.read = subject_of;
  request.progress = line.counter();
  return check_scenarios(request);
}

int run_check(const Arguments& arguments) {
  if (arguments.has("compare")) return run_compare(arguments);
  refuse_together(arguments, {"update", "strict"});
  const std::string folder = arguments.text("baseline");
  if (folder.empty())
    throw UsageError("missing '--baseline DIR', the folder of the expected results");
  const std::string junit = arguments.text("junit"), format = arguments.text("format", "text");
  if (!junit.empty()) refuse_to_overwrite_inputs(arguments, junit);
  refuse_to_replace(arguments, junit, Output::junit, "junit");
  CheckReport report{check(arguments, folder), folder, arguments.has("update"),
                     arguments.has("strict"), arguments.has("verbose")};
  for (const ScenarioVerdict& scenario : report.result.scenarios)
    if (scenario.state == State::error) complain(scenario.path, scenario.message);
  print(format == "json" ? check_json(report) : check_text(report));
  if (format == "github") print(check_github(report));
  if (!junit.empty()) write_file(junit, check_junit(report));
  return report.exit_code();
}

}  // namespace

extern const Command check_command = {
    .name = "check",
    .summary =
        "Compares the results of scenarios with earlier results, or the results of two policies with each other.",
    .usage =
        {"SCENARIO|PLAN... --baseline DIR [--update] [--junit FILE] [--force] [--format FORMAT]",
         "--compare POLICY_A POLICY_B SCENARIO... [--format text|json]"},
    .least = 1,
    .most = most_scenarios,
    .positionals = "SCENARIO or PLAN",
    .names_folder = "scenarios",
    .options =
        {{.name = "baseline", .value = "DIR", .summary = "the folder of the expected results"},
         {.name = "update",
          .summary =
              "accept the new results: write the baselines that are missing or different, and keep the tolerances of "
              "the old baselines"},
         {.name = "strict",
          .summary = "the check fails if anything differs, even if a number became better"},
         {.name = "junit",
          .value = "FILE",
          .summary = "in addition, write a report in JUnit's XML"},
         force_option(Output::junit),
         {.name = "format",
          .value = "FORMAT",
          .summary = "the format of the answer",
          .absent = "text",
          .choices = {"text", "json", "github"}},
         jobs_option("scenarios"),
         {.name = "verbose",
          .letter = 'v',
          .summary = "also print the numbers that have not changed"},
         {.name = "compare", .summary = "compare two policies side by side"}},
    .details =
        "A baseline has two files: DIR/<scenario>.json has the numbers, and\n"
        "DIR/<scenario>.plan has the plan. docs/check.md describes the two files, and how to\n"
        "run this command in GitHub's and GitLab's CI.\n\n"
        "A number is worse if it has changed for the worse by more than its tolerance.\n"
        "The check fails if a number is worse or a baseline is missing. Three other kinds of\n"
        "differences are only reported: better numbers, changes of the plan or the scenario, and\n"
        "changes of numbers that are neither better nor worse. With --strict, the check fails at these\n"
        "differences, too.\n\n"
        "--compare takes two policies. A policy is a name, or a mapping such as {name: streamed,\n"
        "prefetch: 0}. If only a name is given, the parameters that the scenario sets keep their\n"
        "values, provided that the policy with this name has them, too.\n\n"
        "JSON keys: format, baseline, exit_code, accept (the command that accepts the new values),\n"
        "scenarios: scenario, path, verdict (equal, better, changed, worse, missing, error), fails,\n"
        "written, message, slower (stages and links), input (changed, keys: key, expected, got),\n"
        "plan (changed, differences, more), metrics (those that differ, or all with -v: metric,\n"
        "key, unit, verdict, expected, got, difference, percent, better, rtol, atol), numbers\n"
        "(how many there are). JSON keys with --compare: format, a, b, scenarios: scenario, path,\n"
        "a and b (outcome, message), metrics (metric, key, unit, better, a, b, ratio: b / a).\n",
    .examples = {{"sluice check scenarios/*.yaml --baseline tests/golden",
                  "exit code 1 if a number is worse, or a scenario has no baseline"},
                 {"sluice check scenarios/alexnet_x200.yaml --baseline tests/golden --update",
                  "accepts the differences"},
                 {"sluice check --compare streamed resident scenarios/alexnet_*.yaml",
                  "for each scenario, the numbers of the two policies"},
                 {"sluice check --compare streamed '{name: streamed, prefetch: 0}' alexnet_x200",
                  "how much a parameter changes the numbers"}},
    .run = run_check,
};

}  // namespace sluice
