// Two policies on the same scenarios, side by side.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/check/measure.hpp"

namespace sluice {

/// A policy that was given in words: `streamed`, or `{name: streamed, prefetch: 0}`.
struct PolicyChoice {
  std::string words;  ///< as given
  Value value;        ///< a text (a name) or a mapping

  /// Throws InputError with a position: no such policy, a parameter that it does not know.
  explicit PolicyChoice(const std::string& words);
  /// The scenario's document under this policy. A mapping stands as it is; a name takes over those
  /// parameters of the scenario's policy that it knows. `phases:` goes where it would not be used.
  Value applied_to(const Value& document) const;
};

struct SideBySide {
  std::string name, path;
  Measurement a, b;  ///< infeasible or an error on one side leaves the other alone
};

struct SideBySideRequest {
  std::vector<std::string> paths;
  PolicyChoice a, b;
  std::size_t jobs = 1;
  /// Called in a child; what it throws is that scenario's error.
  std::function<Scenario(const std::string& path)> read;
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// In the order of the paths. Throws Interrupted.
std::vector<SideBySide> side_by_side(const SideBySideRequest& request);

/// What is set side by side, of metrics that may have keys.
const std::vector<std::string>& side_by_side_metrics();

}  // namespace sluice
