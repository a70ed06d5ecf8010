// Regression checks: scenarios in parallel, each against its baseline in a folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/check/verdict.hpp"

namespace sluice {

struct CheckRequest {
  std::vector<std::string> paths;  ///< of scenarios and plans; their names are unique
  std::string folder;              ///< of the baselines
  bool update = false;             ///< write baselines where they are missing or different
  std::size_t jobs = 1;            ///< processes at once
  /// Called in a child; what it throws is that scenario's error.
  std::function<Subject(const std::string& path)> read;
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct CheckResult {
  std::vector<ScenarioVerdict> scenarios;  ///< in the order of the request's paths
  std::vector<bool> written;               ///< by scenario: its baseline was written
  std::vector<std::string> paths_to_accept() const;
};

/// A scenario's name: its file's, without folder and ending.
std::string name_of_path(const std::string& path);
std::string baseline_path(const std::string& folder, const std::string& name);
std::string golden_path(const std::string& folder, const std::string& name);

/// Errors of a scenario or of its baseline are verdicts. Throws UsageError: two scenarios of one
/// name, or one that stands where its baseline would. Throws IoError: a baseline cannot be written.
/// Throws Interrupted.
CheckResult check_scenarios(const CheckRequest& request);

}  // namespace sluice
