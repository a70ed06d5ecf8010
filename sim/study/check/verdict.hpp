// Says what has changed in a scenario since its baseline was written: each number, the plan, and the question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/check/golden_plan.hpp"
#include "study/check/measure.hpp"

namespace sluice {

/// How one number compares with the baseline. `changed` means that the number is different, but neither better nor
/// worse.
enum class Verdict { equal, better, changed, worse };
std::string_view words_of(Verdict verdict);

/// The comparison of one number with the number in the baseline. The baseline also gives the tolerance. If a whole
/// metric, or a key of a metric, is new or no longer there, the verdict is `changed`. A metric may have had a number in
/// the baseline, and now have none. Then the verdict is `worse` if the metric says which values are better: smaller
/// ones or larger ones. Otherwise, the verdict is `changed`.
struct MetricVerdict {
  EntryName name;
  std::optional<Entry> expected, got;
  Verdict verdict = Verdict::equal;

  std::optional<double> difference() const;  ///< got - expected
  std::optional<double> share() const;  ///< difference / |expected|; nullopt when `expected` is 0
};

/// A changed key of the resolved scenario, such as "policy.overlap".
struct InputChange {
  std::string key, expected, got;  ///< `expected` is empty for a new key, `got` for a removed key
};

/// The state of a scenario. `missing` means that the scenario has no baseline, or that the plan of the baseline is
/// missing. `error` means that there is no answer, or no readable baseline.
enum class State { equal, better, changed, worse, missing, error };
std::string_view words_of(State state);

struct ScenarioVerdict {
  std::string name, path;
  State state = State::equal;
  std::vector<MetricVerdict> metrics;  ///< all metrics, by name
  bool input_changed = false;          ///< the question differs from the question of the baseline
  std::vector<InputChange> input;      ///< empty if the baseline does not contain the question
  PlanDifference plan;
  /// If the outcome of the run differs from the outcome in the baseline, a text with both outcomes. If there was an
  /// error, the message of the error.
  std::string message;
  int error_code = 0;
  /// If another version of the program wrote the baseline, the name of that version.
  std::string was_version;

  std::size_t count(Verdict verdict) const;
};

Verdict judge(const std::optional<Entry>& expected, const std::optional<Entry>& got);

/// Compares a scenario with its baseline. `golden` is the golden text of the baseline's plan, from the file
/// `golden_name`. If the baseline is infeasible, `golden` may be empty. Throws InputError if `golden` is not such a
/// text.
ScenarioVerdict compare(const Baseline& expected, const std::string& golden,
                        const std::string& golden_name, const Measurement& got);

/// Compares the seconds of stages and links with the baseline. Returns one text for each stage that computes longer
/// than in the baseline, such as "stage 'conv1' computes 1 % longer". Also returns one text for each link whose bytes
/// take longer than in the baseline. The text with the largest percentage comes first.
std::vector<std::string> slower_parts(const ScenarioVerdict& verdict);

}  // namespace sluice
