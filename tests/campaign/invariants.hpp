// Checks of claims that the program makes about every scenario.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "trace/memory_sink.hpp"
#include "trace/summary.hpp"

namespace sluice::test {

/// A scenario with its plan, and with the spans, memory events and metrics of an execution of the plan.
struct Executed {
  Scenario scenario;
  PlannedScenario planned;
  MemorySink trace;
  Summary summary;

  const Plan& plan() const { return planned.plan; }
  double seconds() const { return summary.number("makespan_s"); }
};

/// Reads a scenario with these overrides. Throws InputError.
Scenario scenario_of(const std::string& text, const std::vector<std::string>& overrides = {});
/// Reads a scenario, makes its plan, and replays the plan. Throws InputError or Infeasible.
Executed executed(const std::string& text);

/// Collects claims that do not hold.
class Complaints {
 public:
  void require(bool holds, const std::string& claim) {
    if (!holds) all_.push_back(claim);
  }
  /// Checks a <= b, except for rounding. `slack` is the tolerance, as a share of b.
  void at_most(double a, double b, const std::string& claim, double slack = 1e-9);
  void equal(double a, double b, const std::string& claim, double slack = 1e-9);
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

/// Checks the sums, bounds, peaks, bytes and energy of one execution, and the order of its spans.
void check_bytes(const Executed& run, Complaints& complaints);
void check_numbers(const Executed& run, Complaints& complaints);
void check_trace(const Executed& run, Complaints& complaints);
/// Writes the texts of the scenario and of the plan, reads them again, and checks that nothing changed. Checks that the
/// replay and a naive executor agree, if the plan is small. If `simgrid` is true, SimGrid must agree, too, if the plan
/// is not large.
void check_repeated(const Executed& run, bool simgrid, Complaints& complaints);

/// A check that compares the scenario with a changed scenario.
struct Comparing {
  const char* name;
  void (*check)(const Executed& run, Complaints& complaints);
};
const std::vector<Comparing>& comparing_checks();

/// The result of one scenario.
struct Verdict {
  enum class Kind { complete, infeasible, refused };
  Kind kind = Kind::complete;
  std::vector<std::string> complaints;  ///< the claims that do not hold
  std::string message;                  ///< why the scenario is infeasible or refused
};

/// Runs the checks on a scenario. Of the comparing_checks(), only the check with the index `which` runs. If `which` is
/// -1, all of them run.
Verdict verdict_of(const std::string& text, int which, bool simgrid);

}  // namespace sluice::test
