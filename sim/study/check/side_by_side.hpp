// Runs the same scenarios with two policies, so that the results can be shown side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/check/measure.hpp"

namespace sluice {

/// One of the two policies. The user chooses it by a text such as `streamed` or `{name: streamed, prefetch: 0}`.
struct PolicyChoice {
  std::string words;  ///< the text that the user gave
  Value value;        ///< the name of a policy as a text, or a mapping

  /// Throws InputError with a position when there is no such policy or parameter.
  explicit PolicyChoice(const std::string& words);
  /// Returns the scenario's document with this policy. If `value` is a mapping, it replaces the mapping `policy` of the
  /// scenario. If `value` is only a name, the parameters of the scenario's policy are kept if the new policy has them,
  /// too. If the new policy does not take `phases:`, this key is removed from the document.
  Value applied_to(const Value& document) const;
};

struct SideBySide {
  std::string name, path;
  /// The results of the two policies. Even if one policy is infeasible or has an error, the other policy is measured.
  Measurement a, b;
};

struct SideBySideRequest {
  std::vector<std::string> paths;
  PolicyChoice a, b;
  std::size_t jobs = 1;
  /// Reads a scenario. This function is called in a child process. If it throws an exception, this becomes the error of
  /// the scenario.
  std::function<Scenario(const std::string& path)> read;
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// Returns the results in the order of the paths. Throws Interrupted.
std::vector<SideBySide> side_by_side(const SideBySideRequest& request);

/// Returns the names of the metrics that are shown side by side. If a metric has keys, all its keys are shown.
const std::vector<std::string>& side_by_side_metrics();

}  // namespace sluice
