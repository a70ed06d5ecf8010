// What the program claims of every scenario, as checks that any scenario can be put to.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "trace/memory_sink.hpp"
#include "trace/summary.hpp"

namespace sluice::test {

/// A scenario with its plan, executed.
struct Executed {
  Scenario scenario;
  PlannedScenario planned;
  MemorySink trace;
  Summary summary;

  const Plan& plan() const { return planned.plan; }
  double seconds() const { return summary.number("makespan_s"); }
};

/// Reads, plans and replays it. Throws InputError, Infeasible.
Executed executed(const std::string& text, const std::vector<std::string>& overrides = {});

/// Collects what does not hold.
class Complaints {
 public:
  void require(bool holds, const std::string& claim) {
    if (!holds) all_.push_back(claim);
  }
  /// a <= b but for rounding; `slack` is a share of b.
  void at_most(double a, double b, const std::string& claim, double slack = 1e-9);
  void equal(double a, double b, const std::string& claim, double slack = 1e-9);
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

/// What must hold of one execution: sums, bounds, peaks, bytes, energy, the order of its spans.
void check_numbers(const Executed& run, Complaints& complaints);
void check_trace(const Executed& run, Complaints& complaints);
/// Its texts read back as the same, another executor and a naive one say the same.
void check_repeated(const Executed& run, bool simgrid, Complaints& complaints);

/// A check that changes the scenario and compares.
struct Comparing {
  const char* name;
  void (*check)(const Executed& run, Complaints& complaints);
};
const std::vector<Comparing>& comparing_checks();

/// What one scenario comes to.
struct Verdict {
  enum class Kind { complete, infeasible, refused };
  Kind kind = Kind::complete;
  std::vector<std::string> complaints;  ///< empty: all holds
  std::string message;                  ///< why it is infeasible or refused
};

/// Puts a scenario to all checks, of the comparing ones to number `which` alone; -1: to all.
Verdict verdict_of(const std::string& text, int which, bool simgrid);

}  // namespace sluice::test
