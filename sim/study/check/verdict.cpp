#include "study/check/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/quantity.hpp"
#include "document/load.hpp"

namespace sluice {

namespace {

using ScalarsByPath = std::map<std::string, std::string>;

/// Adds all scalars of a document to `flat`. The key of a scalar is its path in the document, such
/// as "policy.name".
void flatten(const Value& value, const std::string& path, ScalarsByPath& flat) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (value.is_scalar()) {
    flat[path] = value.text();
  } else if (value.entries().empty() && value.items().empty()) {
    flat[path] = value.is_map() ? "{}" : "[]";
  }
  for (const Value::Entry& entry : value.entries()) flatten(entry.value, below(entry.key), flat);
  for (std::size_t i = 0; i < value.items().size(); ++i)
    flatten(value.items()[i], below(std::to_string(i)), flat);
}

std::vector<InputChange> input_changes(const std::string& expected, const std::string& got) {
  if (expected.empty() || got.empty()) return {};
  ScalarsByPath before, after;
  flatten(parse_text(expected, "baseline.yaml"), "", before);
  flatten(parse_text(got, "scenario.yaml"), "", after);
  std::vector<InputChange> changes;
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    if (now == after.end())
      changes.push_back({key, value, ""});
    else if (now->second != value)
      changes.push_back({key, value, now->second});
  }
  for (const auto& [key, value] : after)
    if (before.count(key) == 0) changes.push_back({key, "", value});
  return changes;
}

std::vector<MetricVerdict> metric_verdicts(const Entries& expected, const Entries& got) {
  std::map<EntryName, MetricVerdict> verdicts;
  for (const auto& [name, entry] : expected) verdicts[name].expected = entry;
  for (const auto& [name, entry] : got) verdicts[name].got = entry;
  std::vector<MetricVerdict> list;
  for (auto& [name, verdict] : verdicts) {
    verdict.name = name;
    verdict.verdict = judge(verdict.expected, verdict.got);
    list.push_back(std::move(verdict));
  }
  return list;
}

State state_of(const ScenarioVerdict& verdict, const Baseline& expected, const Baseline& got) {
  using Outcome = Baseline::Outcome;
  if (expected.outcome != got.outcome)
    return got.outcome == Outcome::infeasible ? State::worse : State::better;
  if (verdict.count(Verdict::worse) > 0) return State::worse;
  if (verdict.count(Verdict::better) > 0) return State::better;
  const bool changed = verdict.count(Verdict::changed) > 0 || verdict.input_changed ||
                       !verdict.plan.none() || !verdict.message.empty();
  return changed ? State::changed : State::equal;
}

std::string outcome_message(const Baseline& expected, const Baseline& got) {
  const auto words = [](const Baseline& baseline) {
    return baseline.outcome == Baseline::Outcome::complete ? std::string("it completed")
                                                           : "infeasible: " + baseline.message;
  };
  const std::string before = words(expected), now = words(got);
  return before == now ? "" : "expected: " + before + "\ngot: " + now;
}

}  // namespace

std::string_view words_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> words = {"equal", "better", "changed", "worse"};
  return words[static_cast<std::size_t>(verdict)];
}

std::string_view words_of(State state) {
  constexpr std::array<std::string_view, 6> words = {"equal", "better",  "changed",
                                                     "worse", "missing", "error"};
  return words[static_cast<std::size_t>(state)];
}

std::optional<double> MetricVerdict::difference() const {
  if (!expected || !got || !expected->number || !got->number) return std::nullopt;
  return *got->number - *expected->number;
}

std::optional<double> MetricVerdict::share() const {
  const std::optional<double> moved = difference();
  if (!moved || *expected->number == 0) return std::nullopt;
  return *moved / std::abs(*expected->number);
}

std::size_t ScenarioVerdict::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(metrics.begin(), metrics.end(),
                    [&](const MetricVerdict& metric) { return metric.verdict == verdict; }));
}

Verdict judge(const std::optional<Entry>& expected, const std::optional<Entry>& got) {
  if (!expected || !got) return Verdict::changed;
  const bool directed = expected->better != Metric::Better::neither;
  if (expected->number && !got->number) return directed ? Verdict::worse : Verdict::changed;
  if (!expected->number) {
    const bool same =
        !got->number && expected->text == got->text && expected->absent == got->absent;
    return same ? Verdict::equal : Verdict::changed;
  }
  const double moved = *got->number - *expected->number;
  if (std::abs(moved) <= expected->atol + expected->rtol * std::abs(*expected->number))
    return Verdict::equal;
  if (!directed) return Verdict::changed;
  return (moved < 0) == (expected->better == Metric::Better::lower) ? Verdict::better
                                                                    : Verdict::worse;
}

ScenarioVerdict compare(const Baseline& expected, const std::string& golden,
                        const std::string& golden_name, const Measurement& got) {
  ScenarioVerdict verdict;
  verdict.name = got.baseline.scenario;
  verdict.message = outcome_message(expected, got.baseline);
  // If the outcomes differ, one of the two is infeasible and has no numbers. Then there is nothing
  // to compare.
  if (expected.outcome == got.baseline.outcome)
    verdict.metrics = metric_verdicts(expected.entries, got.baseline.entries);
  if (expected.program_version != got.baseline.program_version)
    verdict.was_version = expected.program_version;
  // If the input is a plan, a change of the input is reported as a change of the plan, below.
  const bool by_plan =
      expected.input == Baseline::Input::plan && expected.input == got.baseline.input;
  if (!by_plan && expected.input_sha256 != got.baseline.input_sha256) {
    verdict.input_changed = true;
    verdict.input = input_changes(expected.input_text, got.baseline.input_text);
  }
  if (!golden.empty() && !got.plan.empty())
    verdict.plan = compare_plans(golden, golden_name, got.plan);
  else if (golden.empty() != got.plan.empty())
    verdict.plan.lines.push_back(golden.empty() ? "the baseline had no plan"
                                                : "there is no plan now");
  verdict.state = state_of(verdict, expected, got.baseline);
  return verdict;
}

std::vector<std::string> slower_parts(const ScenarioVerdict& verdict) {
  std::vector<std::pair<double, std::string>> parts;
  for (const MetricVerdict& metric : verdict.metrics) {
    const std::optional<double> share = metric.share();
    if (metric.verdict != Verdict::worse || !share) continue;
    const auto& [kind, name] = metric.name;
    const bool is_stage = kind == "compute_s_by_stage";
    if (!is_stage && kind != "full_rate_s_by_link") continue;
    std::string text = is_stage ? "stage '" : "the bytes over link '";
    text += name;
    text += is_stage ? "' computes " : "' take ";
    text += format_quantity(100 * *share, Dimension::none);
    text += is_stage ? " % longer" : " % longer at full rate";
    parts.emplace_back(*share, std::move(text));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  for (auto& [share, text] : parts) words.push_back(std::move(text));
  return words;
}

}  // namespace sluice
