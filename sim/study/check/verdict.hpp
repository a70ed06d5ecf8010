// Says what has changed in a scenario since its baseline was written: each number, the plan, and the question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/check/golden_plan.hpp"
#include "study/check/measure.hpp"

namespace sluice {

/// The verdict on the change of one number. `changed` means that the number is different, but neither better nor worse.
enum class Verdict { equal, better, changed, worse };
std::string_view words_of(Verdict verdict);

/// The comparison of one number with the number in the baseline. The baseline also gives the tolerance. For many
/// metrics, either smaller or larger values are better. If such a metric had a number in the baseline and now has no
/// number, the verdict is `worse`. If a metric or a key of a metric appears or disappears, the verdict is `changed`.
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

/// The state of a scenario. `missing` means that the scenario has no baseline. `error` means that there is no answer,
/// or no readable baseline.
enum class State { equal, better, changed, worse, missing, error };
std::string_view words_of(State state);

struct ScenarioVerdict {
  std::string name, path;
  State state = State::equal;
  std::vector<MetricVerdict> metrics;  ///< all metrics, by name
  bool input_changed = false;          ///< the question differs from the question of the baseline
  std::vector<InputChange> input;      ///< empty if the baseline does not contain the question
  PlanDifference plan;
  /// Both outcomes, if the run ended in another way than in the baseline. After an error, this is the error's message.
  std::string message;
  int error_code = 0;
  /// Another version of the program may have written the baseline. This text then names the other version.
  std::string was_version;

  std::size_t count(Verdict verdict) const;
};

Verdict judge(const std::optional<Entry>& expected, const std::optional<Entry>& got);

/// Compares a scenario with its baseline. `golden` is the plan that belongs to the baseline, from the file
/// `golden_name`. `golden` may be empty if the baseline is infeasible. Throws InputError when `golden` cannot be read.
ScenarioVerdict compare(const Baseline& expected, const std::string& golden,
                        const std::string& golden_name, const Measurement& got);

/// Compares the seconds of stages and links with the baseline. Returns one text per stage that computes longer, such as
/// "stage 'conv1' computes 1 % longer". Links that take longer for their bytes have texts, too. The text with the
/// largest relative change comes first.
std::vector<std::string> slower_parts(const ScenarioVerdict& verdict);

}  // namespace sluice
