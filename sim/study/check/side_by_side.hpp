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
  /// Returns the scenario's document with this policy. A mapping replaces the scenario's policy. If `value` is only a
  /// name, the scenario's parameters stay, if the new policy has them. If the new policy does not use `phases:`, this
  /// key is removed.
  Value applied_to(const Value& document) const;
};

struct SideBySide {
  std::string name, path;
  /// The results of the two policies. If one policy is infeasible or has an error, the other policy is still measured.
  Measurement a, b;
};

struct SideBySideRequest {
  std::vector<std::string> paths;
  PolicyChoice a, b;
  std::size_t jobs = 1;
  /// Reads a scenario. This function is called in a child process. An exception of this function becomes the error of
  /// the scenario.
  std::function<Scenario(const std::string& path)> read;
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// Returns the results in the order of the paths. Throws Interrupted.
std::vector<SideBySide> side_by_side(const SideBySideRequest& request);

/// Returns the names of the metrics that are compared side by side. All keys of these metrics are compared.
const std::vector<std::string>& side_by_side_metrics();

}  // namespace sluice
