// Measures a scenario or a plan in a child process. The child sends the results to its parent process as a text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "study/check/baseline.hpp"

namespace sluice {

/// The results of one scenario or plan: either a baseline and the golden text of the plan, or an error.
struct Measurement {
  Baseline baseline;
  std::string plan;  ///< golden text of the plan; empty if no plan could be made
  int error_code = 0;
  std::string error;  ///< the whole message
};

/// The subject of a measurement: a scenario or a plan.
struct Subject {
  std::string name;
  Baseline::Input input = Baseline::Input::scenario;
  std::string input_text;  ///< text of the resolved scenario; empty for a plan
  std::function<Plan()> plan;
  /// Returns the bound of the scenario's question, in seconds. This function is called after `plan`.
  std::function<double()> question_bound_s = {};
};

/// Makes the plan and runs it in this process. If the plan is infeasible, the baseline has the outcome `infeasible`.
/// Any other exception is stored as the error, even if `subject` or a function of the subject throws it.
Measurement measure(const std::function<Subject()>& subject);

/// Measures the subjects 0..count-1, each in a process of its own. At most `jobs` processes run at the same time. If a
/// process dies, the measurement of its subject has an error. Throws Interrupted.
std::vector<Measurement> measure_all(
    std::size_t count, std::size_t jobs, const std::function<Subject(std::size_t)>& subject,
    const std::function<void(std::size_t done, std::size_t total)>& progress = {});

/// packed() converts a measurement to text, and unpacked() converts such a text back.
std::string packed(const Measurement& measurement);
Measurement unpacked(const std::string& text);

}  // namespace sluice
