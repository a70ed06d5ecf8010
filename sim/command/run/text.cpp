#include <algorithm>
#include <cmath>

#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "command/groups.hpp"
#include "command/table.hpp"
#include "metrics/steady.hpp"
#include "scenario/question_bound.hpp"
#include "study/answer/asked.hpp"

#include "command/run/report.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

// The greatest number of links or pools that are listed. Links or pools beyond this number are only counted.
constexpr std::size_t most_listed = 8;

/// Returns a text that says whether the plan fits. If capacities are not enforced, the plan may exceed a memory, and
/// the text says by how many bytes.
std::string verdict(const Report& report) {
  std::vector<std::string> over;
  for (const Pool& pool : report.plan.pools) {
    const double excess = report.result.summary.number("overflow_bytes", {pool.name});
    if (excess > 0)
      over.push_back(printable(pool.name) + " by " + format_quantity(excess, Dimension::bytes) +
                     " beyond its " +
                     format_quantity(static_cast<double>(*pool.capacity), Dimension::bytes));
  }
  if (over.empty()) return coloured("It fits.", 32);
  return coloured("It does not fit", 31) + " (capacity is not enforced here): " + join(over, "; ") +
         ".";
}

std::int64_t compute_streams(const Plan& plan) {
  std::int64_t count = 0;
  for (const Stream& stream : plan.streams) count += stream.kind == StreamKind::compute ? 1 : 0;
  return count;
}

/// Returns text such as "1 step" or "5 steps".
std::string steps_of_run(const Report& report) {
  const std::optional<Scenario>& scenario = report.question.scenario;
  const std::int64_t steps = scenario ? scenario->workload.steps : steps_of(report.plan);
  return figure(static_cast<double>(steps), "") + (steps == 1 ? " step" : " steps");
}

/// Adds the most important results: the seconds of a step in the steady state and of the first step.
void add_steps(LabelledRows& rows, const Report& report) {
  const Summary& summary = report.result.summary;
  const double step = summary.number("step_s"), first = summary.number("first_step_s");
  const double rate = summary.number("steady_throughput_samples_per_s");
  if (std::isfinite(step))
    rows.emplace_back("step", figure(step, "s") + " in the steady state" +
                                  (std::isfinite(rate) ? ": " + figure(rate, "samples/s") : ""));
  if (std::isfinite(first))
    rows.emplace_back("first step", figure(first, "s") + ", with the loads before this step");
}

void add_time(LabelledRows& rows, const Report& report) {
  const Summary& summary = report.result.summary;
  const auto number = [&](const char* name) { return summary.number(name); };
  const double makespan = number("makespan_s");
  // The seconds are sums over all compute streams. The share of a sum is the sum / (makespan x number of compute
  // streams).
  const std::int64_t streams = compute_streams(report.plan);
  const auto seconds = [&](const char* name) {
    std::string text = figure(number(name), "s");
    if (makespan > 0 && streams > 0)
      text +=
          ", " + percent(number(name) / (makespan * static_cast<double>(streams))) +
          (streams == 1 ? " of the makespan"
                        : " of the makespan of " + std::to_string(streams) + " compute streams");
    return text;
  };
  rows.emplace_back("makespan", figure(makespan, "s") + ", " + figure(number("samples"), "sample") +
                                    " in " + steps_of_run(report) + ": " +
                                    figure(number("throughput_samples_per_s"), "samples/s"));
  const double measured = number("measured_share");
  rows.emplace_back(
      "compute", figure(number("compute_s"), "s") + ", utilisation " +
                     percent(number("compute_utilisation")) +
                     (measured > 0 ? ", " + percent(measured) + " of it measured" : std::string()));
  rows.emplace_back("exposed transfer", seconds("exposed_transfer_s"));
  if (number("recompute_s") > 0)
    rows.emplace_back("recompute", seconds("recompute_s") + ", adds " +
                                       percent(number("recompute_overhead")) +
                                       " to the computation");
  if (number("offloaded_bytes") > 0)
    rows.emplace_back("offloaded", figure(number("offloaded_bytes"), "byte") + " of activations");
  if (std::isfinite(number("training_over_inference")))
    rows.emplace_back("training", "takes " + figure(number("training_over_inference"), "") +
                                      " times as long as its forward passes");
  const Summary::Metric* by = summary.find("bound_by");
  std::string binds = by ? printable(by->value.text) : "";
  if (std::isfinite(number("bound_ratio")))
    binds += "; the lower bound is " + percent(number("bound_ratio")) + " of the makespan";
  rows.emplace_back("what binds", binds);
}

/// Says which shares of the seconds come from measurements, from sources and from assumptions.
void add_certainty(LabelledRows& rows, const Report& report) {
  if (const Fact* cost = find_fact(report.plan.facts, "cost"); cost && !report.question.scenario)
    rows.emplace_back("cost", printable(cost->shown()));
  if (report.question.scenario)
    rows.emplace_back(
        "rests on",
        printable(certainty_text(certainty_of(*report.question.scenario, report.result.summary))));
}

void add_question(LabelledRows& rows, const Report& report) {
  const double ratio = report.result.summary.number("question_ratio");
  if (!report.question.scenario || !(ratio > 0)) return;
  const QuestionBound bound = question_bound(*report.question.scenario);
  rows.emplace_back("question", "at least " + figure(bound.seconds, "s") + " with any plan" +
                                    printable(bound.within) + " (" + printable(bound.reason) +
                                    "); this plan takes " + figure(1 / ratio, "") + " times that");
}

std::vector<std::string> devices_of(const Plan& plan) {
  std::vector<std::string> devices;
  for (const Stream& stream : plan.streams)
    if (std::find(devices.begin(), devices.end(), stream.device) == devices.end())
      devices.push_back(stream.device);
  return devices;
}

/// Adds the first few texts of a list under one label. If texts are left out, a last row gives the number of all texts.
void add_listed(LabelledRows& rows, const std::string& label, const std::vector<std::string>& texts,
                const std::string& what) {
  for (std::size_t i = 0; i < std::min(texts.size(), most_listed); ++i)
    rows.emplace_back(i == 0 ? label : "", texts[i]);
  if (texts.size() > most_listed)
    rows.emplace_back("", "... (" + std::to_string(texts.size()) + " " + what + ")");
}

/// Adds rows with the bytes that links moved. Links of equal devices share a row if they move equal numbers of bytes. The
/// seconds of these links may differ a little.
void add_transfers(LabelledRows& rows, const Report& report) {
  const Summary& summary = report.result.summary;
  std::vector<std::string> texts;
  std::vector<double> taken;
  for (const Link& link : report.plan.links) {
    const double moved = summary.number("transferred_bytes_by_link", {link.name});
    if (!(moved > 0)) continue;
    texts.push_back(printable(link.name) + ": " + format_quantity(moved, Dimension::bytes));
    taken.push_back(summary.number("transfer_s_by_link", {link.name}));
  }
  std::vector<std::string> grouped;
  for (const DeviceGroup& group : groups_by_device(texts, devices_of(report.plan))) {
    double least = taken[group.members.front()], most = least;
    for (const std::size_t member : group.members) {
      least = std::min(least, taken[member]);
      most = std::max(most, taken[member]);
    }
    const std::string first = figure(least, "s"), last = figure(most, "s");
    grouped.push_back(group.text + (group.members.size() > 1 ? " each in " : " in ") + first +
                      (first == last ? "" : " to " + last));
  }
  add_listed(rows, "transfers", grouped, "links");
}

std::string classes_of(const Summary& summary, const std::string& pool) {
  std::vector<std::string> parts;
  if (const Summary::Metric* metric = summary.find("peak_bytes_by_class"))
    for (const SummaryValue::Keyed& keyed : metric->value.keyed)
      if (keyed.key.size() == 2 && keyed.key[0] == pool)
        parts.push_back(keyed.key[1] + " " + format_quantity(keyed.number, Dimension::bytes));
  return join(parts);
}

void add_memory(LabelledRows& rows, const Report& report) {
  const Summary& summary = report.result.summary;
  std::vector<std::string> texts;
  for (const Pool& pool : report.plan.pools) {
    const double peak = summary.number("peak_bytes", {pool.name});
    if (!(peak > 0)) continue;
    std::string text = printable(pool.name) + ": " + format_quantity(peak, Dimension::bytes);
    if (pool.capacity) {
      const auto capacity = static_cast<double>(*pool.capacity);
      text += " of " + format_quantity(capacity, Dimension::bytes) + " (" +
              percent(peak / capacity) + ")";
    }
    texts.push_back(text + ": " + classes_of(summary, pool.name));
  }
  std::vector<std::string> grouped;
  for (DeviceGroup& group : groups_by_device(texts, devices_of(report.plan)))
    grouped.push_back(std::move(group.text));
  add_listed(rows, "peak memory", grouped, "memories");
}

void add_energy(LabelledRows& rows, const Report& report) {
  const Summary& summary = report.result.summary;
  const Summary::Metric* energy = summary.find("energy_j");
  if (energy && !energy->value.absent.empty())
    rows.emplace_back("energy", "unknown: " + energy->value.absent);
  else
    rows.emplace_back("energy", figure(summary.number("energy_j"), "J") + ", " +
                                    figure(summary.number("energy_per_sample_j"), "J/sample"));
}

void add_executor(LabelledRows& rows, const Report& report) {
  const Executor who = report.result.executor;
  rows.emplace_back("executed by", who == Executor::simgrid ? "SimGrid"
                                   : who == Executor::replay
                                       ? "the replay, which agrees with SimGrid to 1e-9"
                                       : "SimGrid, and by the replay, which agrees");
}

}  // namespace

std::string report_text(const Report& report) {
  const Question& question = report.question;
  const bool asks = question.scenario && !question.scenario->question.empty();
  std::string text = asks                ? bold(printable(question.scenario->question)) + "\n"
                     : question.scenario ? std::string()
                                         : bold(printable(report.plan.name)) + "\n";
  if (question.scenario) text += printable(asked_text(*question.scenario)) + "\n";
  text += verdict(report) + "\n\n";
  LabelledRows rows;
  add_steps(rows, report);
  add_certainty(rows, report);
  add_facts(rows, report);
  rows = grouped_by_device(rows, devices_of(report.plan));
  add_time(rows, report);
  add_question(rows, report);
  add_transfers(rows, report);
  add_memory(rows, report);
  add_energy(rows, report);
  add_operators(rows, report);
  add_executor(rows, report);
  if (!report.trace_path.empty()) rows.emplace_back("trace", printable(report.trace_path));
  for (const GivenNote& note : report.notes) rows.emplace_back("note", printable(note.text));
  return text + rows_text(rows);
}

}  // namespace sluice
