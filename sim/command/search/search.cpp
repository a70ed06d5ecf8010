// The command `sluice search` varies the values of some keys of a scenario. A point is one combination of these values.
// The command finds the best point without running all points.
#include "study/search/search.hpp"

#include <optional>
#include <set>

#include "metrics/metric.hpp"
#include "run/run.hpp"
#include "study/sweep/store.hpp"

#include "command/command.hpp"
#include "command/inputs.hpp"
#include "command/search/report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

constexpr std::int64_t usual_points = 200;

/// The varied keys, and the changes of other keys. Such a change is the same at all points.
struct SearchWords {
  std::vector<SearchKey> keys;
  std::vector<std::string> fixed;
};
SearchWords asked_of(const Arguments& arguments) {
  SearchWords asked;
  std::set<std::string> names;
  const auto add = [&](const std::string& word, bool may_be_fixed) {
    SearchKey key = parse_search_key(word);
    if (!names.insert(key.key).second)
      throw UsageError("'" + word + "': '" + key.key + "' is given twice");
    if (may_be_fixed && key.count() == 1)
      asked.fixed.push_back(key.key + "=" + key.values.front());
    else
      asked.keys.push_back(std::move(key));
  };
  for (const std::string& word : arguments.texts("over")) add(word, /*may_be_fixed=*/false);
  for (const std::string& word : arguments.overrides) add(word, /*may_be_fixed=*/true);
  return asked;
}

SearchGoal goal_of(const Arguments& arguments, const std::vector<SearchKey>& keys) {
  const bool maximise = arguments.has("maximise");
  if (maximise == arguments.has("minimise"))
    throw UsageError(
        "give either '--minimise METRIC' or '--maximise METRIC'; see 'sluice list metrics'");
  return {parse_search_number(arguments.text(maximise ? "maximise" : "minimise"), keys), maximise};
}

std::vector<std::string> metric_names() {
  return metric_catalog().names();
}

Measure by_both() {
  return [](const Plan& plan, double question_bound_s) {
    return run({.plan = plan, .executor = Executor::both, .question_bound_s = question_bound_s})
        .summary;
  };
}

/// Returns the exit code. 0: a point was found. 1: a point was found, but some points could not be run. 4: all points
/// break a limit.
int run_search_command(const Arguments& arguments) {
  refuse_together(arguments, {"csv", "json"});
  if (arguments.has("retry-failed") && !arguments.has("store"))
    throw UsageError("'--retry-failed' needs '--store FILE', the store that has the failed points");
  SearchWords asked = asked_of(arguments);
  const SearchGoal goal = goal_of(arguments, asked.keys);
  ScenarioDocument document = read_scenario_document(arguments.positionals.front());
  const Variants variants(std::move(document.value), document.path, asked.fixed);
  std::optional<Store> store;
  if (arguments.has("store")) store.emplace(arguments.text("store"));
  SearchRequest request{.variants = variants, .keys = std::move(asked.keys), .goal = goal};
  for (const std::string& limit : arguments.texts("subject-to"))
    request.limits.push_back(parse_search_limit(limit));
  request.most_points =
      static_cast<std::size_t>(arguments.integer("points", usual_points, 1, 1'000'000));
  request.jobs = jobs_of(arguments);
  if (!arguments.has("no-verify")) request.by_both_executors = by_both();
  request.store = store ? &*store : nullptr;
  request.retry_failed = arguments.has("retry-failed");
  ProgressLine line("points");
  if (line.active()) request.progress = line.counter();
  const SearchResult result = run_search(request);
  line.clear();
  result.sweep.require_some_point();
  print_search({variants.base().name, request, result}, arguments.has("csv"),
               arguments.has("json"));
  if (!result.best) return 4;
  return result.sweep.count(PointResult::Status::failed) > 0 ? 1 : 0;
}

}  // namespace

extern const Command search_command = {
    .name = "search",
    .summary =
        "Finds the point at which one number of a scenario has its best value and other numbers keep limits.",
    .usage = {"SCENARIO --minimise METRIC KEY=VALUES... [--subject-to LIMIT]... [--points N]"},
    .least = 1,
    .most = 1,
    .positionals = "SCENARIO",
    .names_folder = "scenarios",
    .overrides = true,
    .options =
        {{.name = "minimise",
          .value = "METRIC",
          .summary = "the number that the search makes as small as possible",
          .suggested = metric_names},
         {.name = "maximise",
          .value = "METRIC",
          .summary = "the number that the search makes as large as possible",
          .suggested = metric_names},
         {.name = "over",
          .value = "KEY=VALUES",
          .summary =
              "a key to vary. The option means the same as KEY=VALUES without --over. May be given several times",
          .repeated = true,
          .changes = true},
         {.name = "subject-to",
          .value = "LIMIT",
          .summary = "METRIC<=QUANTITY or METRIC>=QUANTITY, in quotes. May be given several times",
          .absent = "no limit except that the point fits on the machine",
          .suggested = metric_names,
          .repeated = true},
         {.name = "points",
          .letter = 'n',
          .value = "N",
          .summary = "the largest number of different points to run",
          .absent = "200"},
         {.name = "store",
          .letter = 's',
          .value = "FILE",
          .summary =
              "store each answer in this SQLite file, and do not run points that the file already has",
          .absent = "answers are not kept"},
         {.name = "csv", .summary = "all points that were run, with all numbers, as CSV"},
         {.name = "json", .summary = "all points with all numbers, and the best point, as JSON"},
         jobs_option("points"),
         {.name = "no-verify", .summary = "do not repeat the best point with SimGrid"},
         {.name = "retry-failed",
          .summary = "run the failed points of the store again. Needs --store"}},
    .details =
        "SCENARIO is a file, a name that 'sluice list scenarios' prints, or - for standard input.\n\n"
        "KEY=VALUES:\n"
        "  KEY=lo..hi      a range of whole numbers, as in 1..256. If an end has a unit or a fraction, a range of "
        "real numbers, as in 8GB/s..64GB/s\n"
        "  KEY=a,b,c       the values a, b and c, each combined with all values of the other keys. KEY=lo..hi:n and "
        "KEY=lo..hi*f list values, as in a sweep\n"
        "  KEY=a           this value at all points\n\n"
        "METRIC is a name that 'sluice list metrics' prints. If it has several numbers, choose one by a\n"
        "name after a dot, as in peak_bytes.gpu. METRIC may also be a KEY with a range. So a\n"
        "search can find, for example, the least bandwidth that keeps a limit.\n\n"
        "If all keys have lists or few whole numbers, all combinations are run. If all these runs\n"
        "succeed, the best point is proven to be the best. Otherwise, the search has four steps.\n"
        "First it runs the points at the ends of the ranges. Then DIRECT searches the whole ranges.\n"
        "Then Subplex searches near the best points. Finally, the search tries neighbouring whole\n"
        "numbers one by one. DIRECT and Subplex are algorithms of NLopt. A better point may\n"
        "remain after such a search, and the answer says so. If the end of a range is at least\n"
        "ten times its beginning, the search works with the logarithms of the numbers.\n"
        "Nothing is random: a repeated command runs the same points again. So with --store, a\n"
        "stopped search can continue.\n\n"
        "If every point breaks a limit, the exit code is 4. If some points could not be run, the\n"
        "exit code is 1, and the rows of these points have the errors.\n\n"
        "JSON keys: format, scenario, goal, found and beyond (null, or place, changes, number, limits),\n"
        "as_good, exhaustive, used_up, and units and points as in 'sluice sweep --json'.\n",
    .examples =
        {{"sluice search alexnet_resident --maximise throughput_samples_per_s "
          "workload.batch=1..512 --subject-to 'peak_bytes.gpu<=4GB'",
          "among the batches that need at most 4 GB of the card, the one with the highest throughput"},
         {"sluice search alexnet_x200 --minimise platform.links.host.bandwidth "
          "platform.links.host.bandwidth=8GB/s..128GB/s --subject-to 'makespan_s<=8s'",
          "the least bandwidth of the link for a run of at most 8 s"},
         {"sluice search alexnet_resident --minimise energy_per_sample_j workload.batch=1..64 "
          "policy.buffers=1,2 --store study.db",
          "a range of whole numbers and a list of values. After a stop, the same command continues the search"}},
    .run = run_search_command,
};

}  // namespace sluice
