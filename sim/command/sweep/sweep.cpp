// The command `sluice sweep` runs one scenario at many points. A point is one combination of values of the varied keys.
#include "study/sweep/sweep.hpp"

#include <optional>
#include <set>

#include "base/quantity.hpp"
#include "metrics/metric.hpp"
#include "run/run.hpp"
#include "study/search/goal.hpp"
#include "study/sweep/findings.hpp"
#include "study/sweep/store.hpp"

#include "command/command.hpp"
#include "command/inputs.hpp"
#include "command/sweep/report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

constexpr const char* usual_metrics =
    "steady_throughput_samples_per_s,step_s,compute_utilisation,exposed_transfer_s";

std::vector<std::string> metrics_of(const Arguments& arguments) {
  std::vector<std::string> metrics;
  for (const std::string& name :
       parse_axis("metrics=" + arguments.text("metrics", usual_metrics)).values)
    metrics.push_back(parse_search_number(name, {}).name);
  return metrics;
}

/// Returns the columns of the table. The name of a metric with several numbers stands for all numbers of the metric.
std::vector<std::string> columns_of(const std::vector<std::string>& metrics,
                                    const SweepResult& result) {
  std::vector<std::string> columns;
  for (const std::string& metric : metrics) {
    if (metric_of(metric) != metric)
      columns.push_back(metric);
    else
      for (std::string& number : numbers_of_metric(result, metric))
        columns.push_back(std::move(number));
  }
  return columns;
}

/// The words KEY=VALUE of the command line. Keys with several values are varied. Keys with a single value change the
/// scenario at all points.
struct SweepWords {
  std::vector<Axis> axes;
  std::vector<std::string> fixed;
};
SweepWords asked_of(const Arguments& arguments) {
  SweepWords asked;
  std::set<std::string> keys;
  for (const std::string& word : arguments.overrides) {
    Axis axis = parse_axis(word);
    if (!keys.insert(axis.key).second)
      throw UsageError("'" + word + "': '" + axis.key +
                       "' is given twice; list all of its values in one word, as in " + axis.key +
                       "=a,b,c");
    if (axis.values.size() == 1)
      asked.fixed.push_back(axis.key + "=" + axis.values.front());
    else
      asked.axes.push_back(std::move(axis));
  }
  return asked;
}

int run_merge(const Arguments& arguments) {
  if (!arguments.has("store"))
    throw UsageError("'--merge' needs '--store FILE', the store that receives the points");
  if (!arguments.overrides.empty())
    throw UsageError("'" + arguments.overrides.front() +
                     "': '--merge' takes only stores; remove KEY=VALUES");
  for (const std::string& from : arguments.positionals)
    // The sources are opened before anything is merged. So an error in a source leaves the target as it is.
    Store(from, Store::Mode::read);
  Store into(arguments.text("store"));
  for (const std::string& from : arguments.positionals)
    print(printable(from) + ": " + std::to_string(merge(into, from)) + " points taken over\n");
  print(printable(arguments.text("store")) + ": " + std::to_string(into.size()) +
        " points in all\n");
  return 0;
}

/// Returns a function that runs plans with the given executor. With SimGrid, call that function only once per process.
Measure through(Executor executor) {
  return [executor](const Plan& plan, double question_bound_s) {
    return run({.plan = plan, .executor = executor, .question_bound_s = question_bound_s}).summary;
  };
}

/// Returns the share of the points that SimGrid repeats.
double verified_share(const Arguments& arguments) {
  const std::string text = arguments.text("verify", "1%");
  try {
    if (const double share = parse_quantity(text, Dimension::none, "--verify"); share <= 1)
      return share;
  } catch (const InputError&) {  // The message below also says which values are allowed.
  }
  throw UsageError("'" + text + "' for '--verify': expected a share from 0 to 1, as in 5%");
}

SweepResult sweep(const Arguments& arguments, const Variants& variants, const Points& points,
                  Store* store) {
  ProgressLine line("points");
  SweepRequest request{.variants = variants, .points = points};
  request.jobs = jobs_of(arguments);
  request.verify = verified_share(arguments);
  request.by_both_executors = through(Executor::both);
  if (arguments.text("executor", "replay") == "simgrid")
    request.simgrid = through(Executor::simgrid);
  if (arguments.has("shard")) request.shard = parse_shard(arguments.text("shard"));
  request.store = store;
  request.retry_failed = arguments.has("retry-failed");
  if (line.active()) request.progress = line.counter();
  return run_sweep(request);
}

/// Returns 0 if every point has an answer. "This point does not fit" is an answer, too. Returns 1
/// if some points could not be run. If no point could be run, throws the error of the first point.
int exit_code(const SweepResult& result) {
  const std::size_t failed = result.count(PointResult::Status::failed);
  result.require_some_point();
  return failed > 0 ? 1 : 0;
}

int run_sweep_command(const Arguments& arguments) {
  if (arguments.has("merge")) return run_merge(arguments);
  if (arguments.positionals.size() > 1)
    throw UsageError("unexpected '" + arguments.positionals[1] + "'; expected one SCENARIO");
  refuse_together(arguments, {"csv", "json"});
  if (arguments.has("retry-failed") && !arguments.has("store"))
    throw UsageError("'--retry-failed' needs '--store FILE', the store that has the failed points");
  const std::vector<std::string> metrics = metrics_of(arguments);
  const SweepWords asked = asked_of(arguments);
  const Points points(asked.axes, arguments.has("zip") ? Over::zip : Over::grid);
  ScenarioDocument document = read_scenario_document(arguments.positionals.front());
  const Variants variants(std::move(document.value), document.path, asked.fixed);
  std::optional<Store> store;
  if (arguments.has("store")) store.emplace(arguments.text("store"));
  const SweepResult result = sweep(arguments, variants, points, store ? &*store : nullptr);
  const int code = exit_code(result);
  const SweepReport report{variants.base().name, points, result, columns_of(metrics, result)};
  if (arguments.has("csv"))
    print_sweep_csv(report);
  else if (arguments.has("json"))
    print_sweep_json(report);
  else
    print(sweep_text(report));
  return code;
}

}  // namespace

extern const Command sweep_command = {
    .name = "sweep",
    .summary = "Runs a scenario at many points, and says which point is best.",
    .usage = {"SCENARIO KEY=VALUES... [--zip] [--store FILE] [--csv|--json]",
              "--merge STORE... --store FILE"},
    .least = 1,
    .most = 100'000,
    .positionals = "SCENARIO",
    .names_folder = "scenarios",
    .overrides = true,
    .options =
        {{.name = "zip",
          .summary =
              "combine the first values of all keys, then the second values, and so on, instead of all "
              "combinations"},
         {.name = "store",
          .letter = 's',
          .value = "FILE",
          .summary =
              "store each answer in this SQLite file, and do not run points that the file already has",
          .absent = "answers are not kept"},
         {.name = "metrics",
          .letter = 'm',
          .value = "NAMES",
          .summary =
              "the columns of the table, separated by commas. peak_bytes.gpu is one number of a metric, and peak_bytes "
              "stands for all numbers of the metric. The first column decides which point is best",
          .absent =
              "throughput in the steady state, time of a step, utilisation, and exposed transfers",
          .suggested = [] { return metric_catalog().names(); }},
         {.name = "csv", .summary = "all points with all numbers, as CSV"},
         {.name = "json",
          .summary = "all points with all numbers, with units and whole messages, as JSON"},
         jobs_option("points"),
         {.name = "verify",
          .value = "SHARE",
          .summary =
              "the share of the points that SimGrid repeats. The times of SimGrid and of the replay must be "
              "equal",
          .absent = "1%, but at least one point. With 0, SimGrid repeats no point"},
         {.name = "executor",
          .value = "NAME",
          .summary =
              "what runs the points: replay, or simgrid, which runs each point in a process of its own",
          .absent = "replay",
          .choices = {"replay", "simgrid"}},
         {.name = "shard",
          .value = "K/N",
          .summary = "for job arrays: run only every N-th point, from the K-th point on",
          .absent = "all points"},
         {.name = "retry-failed",
          .summary = "run the failed points of the store again. Needs --store"},
         {.name = "merge",
          .summary = "copy the points of several stores into the store of --store"}},
    .details =
        "SCENARIO is a file, a name that 'sluice list scenarios' prints, or - for standard input.\n"
        "The files that a scenario from standard input names are relative to the working folder.\n\n"
        "KEY=VALUES:\n"
        "  KEY=a,b,c       the values a, b and c\n"
        "  KEY=lo..hi:n    n values at equal distances, lo and hi among them\n"
        "  KEY=lo..hi*f    lo, lo x f, lo x f x f, and so on, up to hi\n"
        "  KEY=lo..hi      all whole numbers from lo to hi\n"
        "  KEY=a           this value at all points\n"
        "Values may have units: 16GB/s..64GB/s:4. Several keys make a grid of all combinations,\n"
        "unless --zip is given.\n\n"
        "A point that does not fit has an answer: the row of the point says why. A point may also\n"
        "fail because of a wrong value. Its row then has the error, and the exit code is 1.\n\n"
        "For --verify, SimGrid runs a new plan, which is made from the scenario of the point. So\n"
        "the open choices are checked, too.\n\n"
        "With --store, the same command continues a stopped sweep. The store finds a point by its\n"
        "resolved scenario and by the program that computed the result.\n"
        "sim/study/sweep/FORMAT.md describes the tables of the store.\n\n"
        "JSON keys: format, scenario, axes (key: values), units (metric: unit), points (changes,\n"
        "status, message, infeasible, chosen, bound_by, executor, verified, metrics).\n",
    .examples = {{"sluice sweep alexnet_resident workload.batch=1..256*2", "powers of two"},
                 {"sluice sweep alexnet_x200 platform.links.host.bandwidth=16GB/s..64GB/s:4 "
                  "workload.dtype=float32,float16 --store study.db",
                  "a grid of eight points. After a stop, the same command continues the sweep"},
                 {"sluice sweep alexnet_x200 policy.prefetch=0..4 --csv > prefetch.csv",
                  "for a script"}},
    .run = run_sweep_command,
};

}  // namespace sluice
