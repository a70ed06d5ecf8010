// Compares two policies on the same scenarios, side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/check/measure.hpp"

namespace sluice {

/// A policy as text: `streamed`, or `{name: streamed, prefetch: 0}`.
struct PolicyChoice {
  std::string words;  ///< as given
  Value value;        ///< a text (a name) or a mapping

  /// Throws InputError with a position when there is no such policy or parameter.
  explicit PolicyChoice(const std::string& words);
  /// Returns the scenario's document with this policy. A mapping replaces the scenario's policy. A name alone keeps the
  /// parameters of the scenario's policy that the new policy also has. `phases:` is removed if the policy does not use
  /// it.
  Value applied_to(const Value& document) const;
};

struct SideBySide {
  std::string name, path;
  Measurement a, b;  ///< infeasibility or an error on one side does not affect the other
};

struct SideBySideRequest {
  std::vector<std::string> paths;
  PolicyChoice a, b;
  std::size_t jobs = 1;
  /// Reads a scenario. This is called in a child process. If it throws, the exception is the error of that scenario.
  std::function<Scenario(const std::string& path)> read;
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// The results in the order of the paths. Throws Interrupted.
std::vector<SideBySide> side_by_side(const SideBySideRequest& request);

/// The metrics that are compared side by side; they may have keys.
const std::vector<std::string>& side_by_side_metrics();

}  // namespace sluice
