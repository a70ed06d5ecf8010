// What `sluice check` answers: for people, for programs, and for continuous integration.
#pragma once

#include <string>

#include "study/check/check.hpp"
#include "study/check/side_by_side.hpp"

namespace sluice {

struct CheckReport {
  CheckResult result;
  std::string folder;  ///< of the baselines
  bool update = false;
  bool strict = false;   ///< whatever is not equal fails
  bool verbose = false;  ///< equal numbers, too

  /// With `update` only errors fail: the rest was accepted.
  bool fails(const ScenarioVerdict& scenario) const;
  /// That of the first error, else 1 where something fails, else 0.
  int exit_code() const;
  /// The command line that accepts what is different; empty where nothing is.
  std::string accept_command() const;
};

std::string check_text(const CheckReport& report);
/// A scenario's line, table and remarks, without colours.
std::string scenario_text(const CheckReport& report, std::size_t scenario);
/// "2 worse of 54 numbers, changed plan"
std::string in_brief(const ScenarioVerdict& scenario);

/// format sluice-check/1; the keys are described in the help of `sluice check`.
std::string check_json(const CheckReport& report);
/// Annotations of a pull request: errors, warnings and notices.
std::string check_github(const CheckReport& report);
/// One test case a scenario, as GitLab, Jenkins and others read it.
std::string check_junit(const CheckReport& report);

struct SideBySideReport {
  std::string a, b;  ///< the policies as given
  std::vector<SideBySide> rows;
  /// That of the first error; infeasible is an answer.
  int exit_code() const;
};
std::string side_by_side_text(const SideBySideReport& report);
/// format sluice-comparison/1
std::string side_by_side_json(const SideBySideReport& report);

}  // namespace sluice
