// What has become of a scenario: each number against its baseline, the plan, and the question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/check/golden_plan.hpp"
#include "study/check/measure.hpp"

namespace sluice {

/// Of one number: `changed` is neither better nor worse.
enum class Verdict { equal, better, changed, worse };
std::string_view words_of(Verdict verdict);

/// The tolerance, the direction and so on are those of the baseline. A number that may be better
/// or worse and is none any more is worse; a key or a metric that came or went is changed.
struct MetricVerdict {
  EntryName name;
  std::optional<Entry> expected, got;
  Verdict verdict = Verdict::equal;

  std::optional<double> difference() const;  ///< got - expected
  std::optional<double> share() const;       ///< difference / |expected|; none where that is 0
};

/// A key of the resolved scenario: "policy.overlap".
struct InputChange {
  std::string key, expected, got;  ///< empty: it was not there, or is not
};

/// `missing`: there is no baseline. `error`: there is no answer, or no readable baseline.
enum class State { equal, better, changed, worse, missing, error };
std::string_view words_of(State state);

struct ScenarioVerdict {
  std::string name, path;
  State state = State::equal;
  std::vector<MetricVerdict> metrics;  ///< all of them, by name
  bool input_changed = false;          ///< "we asked differently"
  std::vector<InputChange> input;      ///< empty where the baseline does not hold the question
  PlanDifference plan;
  /// What its outcome was and is, where they differ; the error's message.
  std::string message;
  int error_code = 0;
  std::string was_version;  ///< of the program that wrote the baseline, where it is another one

  std::size_t count(Verdict verdict) const;
};

Verdict judge(const std::optional<Entry>& expected, const std::optional<Entry>& got);

/// `golden` is the plan beside the baseline, from the file `golden_name`; empty: there is none,
/// which is fine where the baseline is infeasible. Throws InputError: `golden` cannot be read.
ScenarioVerdict compare(const Baseline& expected, const std::string& golden,
                        const std::string& golden_name, const Measurement& got);

/// A stage that computes longer or a link whose bytes take longer, in words: "stage 'conv1'
/// computes 1 % longer". By share, the largest first.
std::vector<std::string> slower_parts(const ScenarioVerdict& verdict);

}  // namespace sluice
