// Measures a step in the steady state of an execution: its seconds, and the samples that it completes. Times are in
// seconds.
#pragma once

#include <optional>

#include "metrics/totals.hpp"

namespace sluice {

/// Returns the seconds of a step in the steady state. If a longer run has measured these seconds
/// (Totals::further_step), returns the measured seconds. Otherwise, returns the mean seconds of the steps in the second
/// half of the run, from the end of the middle step to the end of the last step. But if the busiest stream or link
/// works for more seconds per step than this mean, returns the seconds of this stream or link. If the run has no second
/// step, or if the last step did not end, returns nullopt.
std::optional<double> steady_step_s(const Totals& totals);

/// Records when the middle step and the last step of a run end, for callers that need nothing else. The sink must
/// receive the complete execution, with all repetitions.
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
/// Returns the mean seconds of the steps in the second half of the run. If the busiest stream or link works for more
/// seconds per step, returns those seconds.
std::optional<double> steady_step_s(const Plan& plan, const StepEnds& ends);

/// Returns whether the updates of a step follow all of its iterations: the epilogue updates weights, the body does not,
/// and the run is a single step. The seconds of such a step include its updates.
bool updates_follow_iterations(const Plan& plan);

/// Returns whether the run is a single step, and the epilogue computes micro-batches of this step.
bool computes_after_iterations(const Plan& plan);

/// Returns how many times as much work a step has as its iterations of the body. The result is 1, or more if the
/// prologue or the epilogue computes micro-batches of the step. The epilogue does not count if it also has the updates.
double work_of_step(const Plan& plan);

/// Returns the number of steps of the run. The iterations say it. If an iteration has several steps, the last steps of a
/// run may be in the epilogue. The samples of the epilogue then say how many they are.
std::int64_t steps_of(const Plan& plan);

/// Returns the number of samples whose answers become complete in a step.
double samples_of_step(const Plan& plan);

}  // namespace sluice
