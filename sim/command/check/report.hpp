// Makes the answer of `sluice check` for people, for programs, and for continuous integration.
#pragma once

#include <string>

#include "study/check/check.hpp"
#include "study/check/side_by_side.hpp"

namespace sluice {

struct CheckReport {
  CheckResult result;
  std::string folder;  ///< folder of the baselines
  bool update = false;
  bool strict = false;   ///< whether every difference fails the check, improvements included
  bool verbose = false;  ///< whether the report also shows numbers that have not changed

  /// Returns whether the scenario fails. With `update`, a scenario fails only if it has an error, because all
  /// differences are accepted.
  bool fails(const ScenarioVerdict& scenario) const;
  /// Returns the exit code of the first error. Without an error, returns 1 if a scenario fails, and 0 otherwise.
  int exit_code() const;
  /// Returns the command line that accepts all differences. Without differences, returns an empty text.
  std::string accept_command() const;
};

std::string check_text(const CheckReport& report);
/// Returns a line, a table and remarks about a scenario, as text without colours.
std::string scenario_text(const CheckReport& report, std::size_t scenario);
/// Returns text such as "2 worse of 54 numbers, changed plan".
std::string in_brief(const ScenarioVerdict& scenario);

/// Returns the report in the format sluice-check/1. The help of `sluice check` describes its keys.
std::string check_json(const CheckReport& report);
/// Returns the report as annotations of a pull request on GitHub: errors, warnings and notices.
std::string check_github(const CheckReport& report);
/// Returns one test case per scenario in JUnit's XML, which GitLab, Jenkins and other systems read.
std::string check_junit(const CheckReport& report);

struct SideBySideReport {
  std::string a, b;  ///< the two policies, as the user gave them
  std::vector<SideBySide> rows;
  /// Returns the exit code of the first error, or 0 if there is none. An infeasible plan is an answer, not an error.
  int exit_code() const;
};
std::string side_by_side_text(const SideBySideReport& report);
/// Returns the report in the format sluice-comparison/1.
std::string side_by_side_json(const SideBySideReport& report);

}  // namespace sluice
