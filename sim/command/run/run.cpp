// The command `sluice run` answers the question of a scenario, or executes a plan file.
#include "run/run.hpp"
#include "base/utf8.hpp"
#include "document/load.hpp"
#include "scenario/question_bound.hpp"
#include "study/answer/answer.hpp"

#include "command/output.hpp"
#include "command/page.hpp"
#include "command/run/report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

int resolve(const Question& question, const Arguments& arguments) {
  if (!question.scenario)
    throw UsageError("'--resolve' is for scenarios; '" + question.path +
                     "' is a plan: remove '--resolve'");
  const Value& document = question.scenario->document;
  print(arguments.has("json") ? to_json(document) : to_yaml_with_provenance(document));
  return 0;
}

/// Runs the plan. Before this function returns, it removes the progress line. So other text can be printed. A written
/// trace contains the notes of the answer. `notes` receives these notes with or without a trace.
RunResult execute(const Arguments& arguments, const Question& question, const Plan& plan,
                  const std::string& trace_path, std::optional<std::vector<GivenNote>>& notes) {
  ProgressLine line("actions");
  RunRequest request{.plan = plan, .trace_path = trace_path};
  if (const std::string name = arguments.text("executor"); !name.empty())
    request.executor = executor_named(name);
  if (question.scenario) {
    request.scenario_text = question.scenario->text();
    request.question_bound_s = question_bound(*question.scenario).seconds;
    request.answer = [&](const Summary& summary) {
      notes = notes_of({*question.scenario, plan, summary, question.cut.compared});
      return answer_json(*question.scenario, summary, *notes);
    };
  }
  request.command_line = arguments.line;
  if (line.active())
    request.progress = [&line](std::int64_t done, std::int64_t total) { line.show(done, total); };
  return in_plan_file(question, [&] { return run(request); });
}

int answer(const Arguments& arguments, Question& question, const std::string& trace_path) {
  const Plan plan = plan_of(question);
  std::optional<std::vector<GivenNote>> notes;
  const RunResult result = execute(arguments, question, plan, trace_path, notes);
  Report report{question, plan, result, trace_path};
  if (question.scenario)
    report.notes =
        notes ? *notes
              : notes_of({*question.scenario, plan, result.summary, question.cut.compared});
  print(arguments.has("json") ? report_json(report) : folded(report_text(report), page_width()));
  return 0;
}

int run_run(const Arguments& arguments) {
  Question question = read_question(arguments);
  if (arguments.has("resolve")) {
    if (arguments.has("output"))
      throw UsageError("'--resolve' does not run the scenario; remove -o");
    return resolve(question, arguments);
  }
  const std::string trace_path = arguments.text("output");
  if (arguments.has("json") && valid_utf8(trace_path) != trace_path)
    throw UsageError("'" + printable(trace_path) +
                     "' for '--output' is not UTF-8. --json prints this name, and JSON is UTF-8: "
                     "give the trace another name");
  if (!trace_path.empty()) refuse_to_overwrite(question, trace_path);
  refuse_to_replace(arguments, trace_path, Output::trace);
  try {
    return answer(arguments, question, trace_path);
  } catch (const Infeasible& infeasible) {
    std::optional<Refusal> refusal;
    if (question.scenario) refusal = refusal_of(*question.scenario, infeasible);
    if (arguments.has("json")) print(infeasible_json(question, infeasible, refusal));
    // The caller prints the message of the exception, and returns the exit code of the exception.
    if (!refusal) throw;
    throw Infeasible(refusal_text(*refusal, infeasible), infeasible.shortage);
  }
}

}  // namespace

extern const Command run_command = {
    .name = "run",
    .summary = "Runs a scenario and answers its question, or runs a plan.",
    .usage = {"SCENARIO [KEY=VALUE...] [-o TRACE] [--force] [--json] [--executor NAME]",
              "PLAN [-o TRACE] [--force] [--json] [--executor NAME]",
              "SCENARIO [KEY=VALUE...] --resolve [--json]"},
    .least = 1,
    .most = 1,
    .positionals = "SCENARIO or PLAN",
    .names_folder = "scenarios",
    .overrides = true,
    .options =
        {{.name = "output",
          .letter = 'o',
          .value = "TRACE",
          .summary = "the file to which the trace is written, in HDF5 (sim/trace/FORMAT.md)",
          .absent = "none is written"},
         force_option(Output::trace),
         {.name = "executor",
          .value = "NAME",
          .summary =
              "what executes the plan: simgrid is the reference, and replay computes the events by arithmetic. With "
              "both, the exit code is 70 if their times differ",
          .absent =
              "auto: simgrid for a run of at most 100000 actions, and replay for a longer run",
          .choices = executor_names()},
         {.name = "json", .summary = "print the answer as JSON, with full precision"},
         {.name = "resolve",
          .summary =
              "do not run the scenario. Print the scenario with the documents that it includes, and say where each "
              "value comes from"}},
    .details =
        "SCENARIO is a file, a name that `sluice list scenarios` prints, or - for standard input. KEY=VALUE changes "
        "any value of the scenario, as in platform.links.host.bandwidth=64GB/s or fates.strategy=keep_all.\n\n"
        "JSON keys:\n"
        "  format, scenario\n"
        "  question   the question in words; null if KEY=VALUE changed the scenario\n"
        "  asked      model, parameters, platform, mode, dtype, batch, policy, cost and others; text: all in one "
        "line\n"
        "  inputs     the whole scenario\n"
        "  status     complete\n"
        "  certainty  measured, sourced, assumed: shares of the seconds of work; figures: the assumed ones; text: "
        "all in one line\n"
        "  notes      each with name and text\n"
        "  plan       name, actions, iterations, steps_per_iteration, iterations_per_step; facts: what the policy "
        "decided\n"
        "  stages     each with name, first_layer, last_layer, weight_bytes, and per sample input_bytes, "
        "output_bytes, workspace_bytes, cache_bytes, macs, flop\n"
        "  pools      each with capacity_bytes and enforced\n"
        "  metrics    the numbers of `sluice list metrics`; null if a number is absent\n"
        "  units      the units of the metrics\n"
        "  operators  seconds, joules_above_idle, measured shares, classes, layers; or null\n"
        "  executor   what ran the plan: simgrid, replay or both\n"
        "  trace      path, content_sha256; or null\n\n"
        "If no plan fits, or the run ends in a deadlock (exit code 4), the keys are format, scenario, question, asked, "
        "inputs, status (infeasible) and infeasible (headline, culprit, largest_batch, changes, message, pool, "
        "needed_bytes, available_bytes, by_class, time_s, waiters: stream, action, awaits, pool, bytes, tensors).\n\n"
        "Ctrl-C ends the run. In this case, the trace has status=aborted and holds the actions that were executed.\n",
    .examples =
        {{"sluice run alexnet_x200", "the answer"},
         {"sluice run alexnet_x200 platform.links.host.bandwidth=64GB/s -o fast.h5",
          "the scenario with a faster link. The command also writes a trace for `sluice show`"},
         {"sluice run alexnet_x200 policy.overlap=false --json", "for a script"}},
    .run = run_run,
};

}  // namespace sluice
