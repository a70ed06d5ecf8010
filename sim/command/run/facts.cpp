// Describes the decisions of the policy in words. A plan holds each decision as a fact: a name and a value.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "command/run/report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

// The greatest number of groups or replicas that are listed. Groups or replicas beyond this number are only counted.
constexpr std::size_t most_listed = 8;

using Facts = std::vector<Fact>;

std::string shown(const Facts& facts, const char* name) {
  const Fact* fact = find_fact(facts, name);
  return fact ? printable(fact->shown()) : "";
}

/// Returns text such as "3 passes" or "1 pass".
std::string counted(const std::string& count, const std::string& one, const std::string& many) {
  return count + " " + (count == "1" ? one : many);
}

/// Adds one row per group, with a fact about the group. More than `most_listed` groups with equal facts share a single
/// row. If the facts of these groups differ, only the first `most_listed` groups have rows.
void add_of_groups(Rows& rows, const Facts& facts, const char* name, const std::string& label,
                   const std::function<std::string(const std::string& group)>& group_name) {
  Facts groups;
  for (const Fact& fact : facts)
    if (fact.name == name) groups.push_back(fact);
  const bool same = groups.size() > most_listed &&
                    std::all_of(groups.begin(), groups.end(), [&](const Fact& fact) {
                      return fact.value == groups.front().value;
                    });
  if (same) {
    rows.emplace_back(
        label, groups.front().shown() + " of each of " + std::to_string(groups.size()) + " groups");
    return;
  }
  for (std::size_t g = 0; g < std::min(groups.size(), most_listed); ++g)
    rows.emplace_back(g == 0 ? label : "",
                      printable(groups[g].shown()) + " of " + group_name(groups[g].of));
  if (groups.size() > most_listed)
    rows.emplace_back("", "... (" + std::to_string(groups.size()) + " groups)");
}

void add_in_flight(Rows& rows, const Facts& facts, const Report& report) {
  const std::string in_flight = shown(facts, "in_flight");
  if (in_flight.empty()) return;
  const std::optional<Scenario>& scenario = report.question.scenario;
  // In inference, the policy for phases computes whole batches.
  const bool batches = scenario && scenario->acting->takes_phases && !scenario->workload.training;
  std::string text = batches ? counted(in_flight, "batch", "batches")
                             : counted(in_flight, "micro-batch", "micro-batches");
  if (scenario) {
    const Workload& workload = scenario->workload;
    text += " of " + counted(std::to_string(batches ? workload.batch : workload.micro_batch),
                             "sample", "samples");
  }
  if (const std::string fit = shown(facts, "fit_in_flight"); !fit.empty())
    text += ", " + fit + " fit";
  if (const std::string passes = shown(facts, "passes_per_step"); !passes.empty())
    text += ", " + counted(passes, "pass", "passes") + " per step";
  rows.emplace_back("in flight", text);
}

/// Returns a ratio as text, such as "4.12 %".
std::string in_percent(const Fact& fact) {
  const Fact::Number* number = fact.number();
  if (!number || number->unit != "1") return fact.shown();
  return exact(std::round(number->value * 1e4) / 100) + " %";
}

/// Adds rows like "keep: makes 4 MB; recomputing takes 2 ms, saving and loading 1 ms".
void add_stages(Rows& rows, const Facts& facts) {
  for (const Fact& fate : facts) {
    if (fate.name != "fate_of_stage") continue;
    const auto said = [&](const char* name, const std::string& before) {
      const Fact* fact = find_fact(facts, name, fate.of);
      return fact ? before + fact->shown() : "";
    };
    const bool several = fate.of.find("..") != std::string::npos;
    rows.emplace_back(printable((several ? "stages " : "stage ") + fate.of),
                      printable(fate.shown() + said("made_by_stage_bytes", ": makes ") +
                                said("recompute_of_stage_s", "; recomputing takes ") +
                                said("copies_of_stage_s", ", saving and loading ")));
  }
}

/// Adds rows with the chosen candidate, the number of candidates, and the seconds of the second best candidate.
void add_choice(Rows& rows, const Facts& facts) {
  const std::string chosen = shown(facts, "chosen");
  if (chosen.empty()) return;
  rows.emplace_back("chosen", chosen);
  rows.emplace_back("", "the fastest of " + shown(facts, "chosen_from") + " candidates, " +
                            shown(facts, "simulated") + " of them simulated");
  const Fact* seconds = find_fact(facts, "runner_up_s");
  if (!seconds || !seconds->number()) return;
  // The text is empty for the settings of the scenario itself.
  const std::string runner_up = shown(facts, "runner_up");
  rows.emplace_back("runner-up", figure(seconds->number()->value, "s") +
                                     (runner_up.empty() ? "" : ": " + runner_up));
}

/// Returns true for facts that this file describes in words. Any other fact becomes a row under the fact's name.
bool has_words(const Fact& fact) {
  static const std::vector<std::string> names = {"cost",
                                                 "in_flight",
                                                 "fit_in_flight",
                                                 "passes_per_step",
                                                 "loads_listed_ahead",
                                                 "weight_passes",
                                                 "chosen",
                                                 "chosen_s",
                                                 "chosen_from",
                                                 "simulated",
                                                 "runner_up",
                                                 "runner_up_s",
                                                 "fate_of_stage",
                                                 "made_by_stage_bytes",
                                                 "recompute_of_stage_s",
                                                 "copies_of_stage_s"};
  return std::find(names.begin(), names.end(), fact.name) != names.end();
}

/// Returns the rows for the facts of the plan or of one replica.
Rows rows_of(const Facts& facts, const Report& report) {
  Rows rows;
  const std::vector<std::string>& stages = report.plan.stages;
  add_in_flight(rows, facts, report);
  add_of_groups(rows, facts, "weight_passes", "weight passes", [&](const std::string& group) {
    for (std::size_t g = 0; g < std::min(stages.size(), most_listed); ++g)
      if (group == std::to_string(g)) return printable(stages[g]);
    return printable(group);
  });
  if (const std::string ahead = shown(facts, "loads_listed_ahead"); !ahead.empty())
    rows.emplace_back("loads ahead", ahead + " per step are listed earlier than they are needed");
  for (const Fact& fact : facts)
    if (!has_words(fact))
      rows.emplace_back(printable(fact.name + (fact.of.empty() ? "" : " " + fact.of)),
                        printable(in_percent(fact)));
  add_stages(rows, facts);
  add_choice(rows, facts);
  return rows;
}

struct Replica {
  std::string device;
  Facts facts;
};

/// Returns the facts of each replica. Each element names its replica, so its facts do not name the replica again.
std::vector<Replica> replicas_of(const Facts& facts) {
  std::vector<Replica> replicas;
  for (Fact fact : facts) {
    if (fact.replica.empty()) continue;
    if (replicas.empty() || replicas.back().device != fact.replica)
      replicas.push_back({fact.replica, {}});
    fact.replica.clear();
    replicas.back().facts.push_back(std::move(fact));
  }
  return replicas;
}

void add_replicas(Rows& rows, const Report& report) {
  const std::vector<Replica> replicas = replicas_of(report.plan.facts);
  if (replicas.empty()) return;
  const auto add = [&](const std::string& heading, const Facts& facts) {
    rows.emplace_back(heading, "");
    for (auto& [label, value] : rows_of(facts, report))
      rows.emplace_back("  " + label, std::move(value));
  };
  const bool alike = std::all_of(replicas.begin(), replicas.end(), [&](const Replica& replica) {
    return replica.facts == replicas.front().facts;
  });
  if (alike) {
    add("each of " + std::to_string(replicas.size()) + " replicas", replicas.front().facts);
    return;
  }
  for (std::size_t k = 0; k < std::min(replicas.size(), most_listed); ++k)
    add("replica on " + printable(replicas[k].device), replicas[k].facts);
  if (replicas.size() > most_listed)
    rows.emplace_back("... (" + std::to_string(replicas.size()) + " replicas)", "");
}

}  // namespace

void add_facts(Rows& rows, const Report& report) {
  Facts own;
  for (const Fact& fact : report.plan.facts)
    if (fact.replica.empty()) own.push_back(fact);
  for (auto& row : rows_of(own, report)) rows.push_back(std::move(row));
  add_replicas(rows, report);
}

}  // namespace sluice
