// The results of a scenario in a form that one process can send to another process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "study/check/baseline.hpp"

namespace sluice {

/// A measurement has either a baseline with the golden text of its plan, or an error.
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
  /// Returns the bound of a scenario's question. It is called after `plan`.
  std::function<double()> question_bound_s = {};
};

/// Makes the plan and runs it in this process. If the plan is infeasible, the baseline has the outcome `infeasible`.
/// Any other exception is stored as the error. This is also true for the exceptions of `subject` and its functions.
Measurement measure(const std::function<Subject()>& subject);

/// Calls measure(subject(i)) for each i in 0..count-1, each in its own process, `jobs` at a time. If a process dies,
/// the measurement of its subject has an error. Throws Interrupted.
std::vector<Measurement> measure_all(
    std::size_t count, std::size_t jobs, const std::function<Subject(std::size_t)>& subject,
    const std::function<void(std::size_t done, std::size_t total)>& progress = {});

/// Converts a measurement to text, and back.
std::string packed(const Measurement& measurement);
Measurement unpacked(const std::string& text);

}  // namespace sluice
