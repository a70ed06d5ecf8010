// A regression check runs scenarios, several at the same time, and compares the results of each scenario with its
// baseline in a folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/check/verdict.hpp"

namespace sluice {

struct CheckRequest {
  /// The paths of scenarios and plans. No two of these files may have the same name, even in different folders.
  std::vector<std::string> paths;
  std::string folder;    ///< folder of the baselines
  bool update = false;   ///< whether baselines that are missing or out of date are written
  std::size_t jobs = 1;  ///< how many processes run at the same time
  /// Reads a scenario or a plan. It is called in a child process. If it throws an exception, this becomes the error of
  /// the scenario.
  std::function<Subject(const std::string& path)> read;
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct CheckResult {
  std::vector<ScenarioVerdict> scenarios;  ///< in the order of the request's paths
  std::vector<bool> written;               ///< for each scenario: whether its baseline was written
  std::vector<std::string> paths_to_accept() const;
};

/// Returns the name of the scenario at `path`: the name of its file, without folder and extension.
std::string name_of_path(const std::string& path);
std::string baseline_path(const std::string& folder, const std::string& name);
std::string golden_path(const std::string& folder, const std::string& name);

/// Checks all scenarios. If a scenario or its baseline has an error, the error becomes the verdict of this scenario.
/// Throws UsageError if two scenarios have the same name, or if a scenario has the path of its own baseline. Throws
/// IoError if a baseline cannot be written. Throws Interrupted.
CheckResult check_scenarios(const CheckRequest& request);

}  // namespace sluice
