// Measures the steady state of an execution, after the first loads: the seconds of a step, and the samples that it
// completes. Times are in seconds.
#pragma once

#include <optional>

#include "metrics/totals.hpp"

namespace sluice {

/// Returns the seconds of a step in the steady state. If a longer run has measured these seconds, returns them
/// (Totals::further_step). Otherwise, measures the second half of the run, from the end of the middle step to the end
/// of the last step. If the busiest stream or link works longer per step, returns the seconds of its work. Returns
/// nullopt if the run has no second step, or if the last step did not end.
std::optional<double> steady_step_s(const Totals& totals);

/// Collects when the steps of a run end, for callers that need nothing else. The sink must receive the complete
/// execution, with all repetitions.
class StepEnds final : public Sink {
 public:
  explicit StepEnds(const Plan& plan);
  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}

  std::int64_t middle() const { return middle_; }  ///< the same iteration as in Totals
  std::optional<double> middle_complete() const { return middle_complete_; }
  std::optional<double> last_complete() const { return last_complete_; }

 private:
  const Plan& plan_;
  std::int64_t middle_, last_;  ///< numbers of iterations
  std::optional<double> middle_complete_, last_complete_;
};
/// Returns the seconds of a step in the second half of the run. If the busiest stream or link works for more seconds
/// per step, returns the seconds of this stream or link.
std::optional<double> steady_step_s(const Plan& plan, const StepEnds& ends);

/// Returns the number of samples whose answers become complete in a step.
double samples_of_step(const Plan& plan);

}  // namespace sluice
