// The command `sluice plan` prints the text of a plan without executing the plan.
#include "base/part_file.hpp"
#include "execute/feasibility.hpp"
#include "plan/text.hpp"

#include "command/inputs.hpp"
#include "command/output.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::string in_words(const Plan& plan) {
  std::int64_t executions = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) executions += plan.executions_of(a);
  return plan.name + ": it fits and ends; " + std::to_string(plan.actions.size()) + " actions, " +
         std::to_string(executions) + " executions\n";
}

int run_plan(const Arguments& arguments) {
  if (arguments.has("check") && (arguments.has("csv") || arguments.has("output")))
    throw UsageError("'--check' does not write a plan; remove --csv and --output");
  Question question = read_question(arguments);
  const std::string output = arguments.text("output");
  if (!output.empty()) refuse_to_overwrite(question, output);
  refuse_to_replace(arguments, output, arguments.has("csv") ? Output::table : Output::plan);
  const Plan plan = plan_of(question);
  if (arguments.has("check")) {
    in_plan_file(question, [&] { check(plan); });
    print(in_words(plan));
    return 0;
  }
  const std::string text = arguments.has("csv") ? to_csv(plan) : to_text(plan);
  if (output.empty())
    print(text);
  else
    write_file(output, text);
  return 0;
}

}  // namespace

extern const Command plan_command = {
    .name = "plan",
    .summary =
        "Prints the plan of a scenario: the actions, the streams that execute them, and the order of the actions.",
    .usage = {"SCENARIO [KEY=VALUE...] [--csv] [-o FILE] [--force]",
              "SCENARIO|PLAN [KEY=VALUE...] --check"},
    .least = 1,
    .most = 1,
    .positionals = "SCENARIO or PLAN",
    .names_folder = "scenarios",
    .overrides = true,
    .options = {{.name = "csv", .summary = "print CSV with one row per action, for spreadsheets"},
                {.name = "output",
                 .letter = 'o',
                 .value = "FILE",
                 .summary = "the file to write",
                 .absent = "standard output"},
                force_option(Output::plan),
                {.name = "check",
                 .summary =
                     "do not print the plan. Say whether it fits, and whether its run ends"}},
    .details =
        "The text of the plan can be saved, compared, edited, and executed with `sluice run\n"
        "PLAN`. sim/plan/FORMAT.md describes the text.\n",
    .examples = {{"sluice plan alexnet_resident -o resident.plan",
                  "saves the plan. `sluice run resident.plan` executes it"},
                 {"sluice plan alexnet_x200 'stages={cut: explicit, after: [16]}' --check",
                  "exit code 4 if the plan does not fit"}},
    .run = run_plan,
};

}  // namespace sluice
