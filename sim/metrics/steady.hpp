// The steady state of an execution: how long a step takes once the pipeline is filled, and how many
// samples per second that is. Seconds.
#pragma once

#include <optional>

#include "metrics/totals.hpp"

namespace sluice {

/// Seconds of a step in the steady state: those of further steps, where they were run (`sluice run`
/// does), or else of the second half of the steps asked for, from the completion of the middle one
/// to that of the last one, but at least the work of one step on its busiest stream or link. None:
/// at most one step was run.
std::optional<double> steady_step_s(const Totals& totals);

/// Collects when the steps of a run end, for callers that need nothing else of it. The execution
/// must be complete: no repetitions are left out.
class StepEnds final : public Sink {
 public:
  explicit StepEnds(const Plan& plan);
  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}

  std::int64_t middle() const { return middle_; }  ///< as in Totals
  std::optional<double> middle_complete() const { return middle_complete_; }
  std::optional<double> last_complete() const { return last_complete_; }

 private:
  const Plan& plan_;
  std::int64_t middle_, last_;  ///< numbers of iterations
  std::optional<double> middle_complete_, last_complete_;
};
/// Seconds of a step in the second half of the steps that were run, as above.
std::optional<double> steady_step_s(const Plan& plan, const StepEnds& ends);

/// The number of samples whose answers become complete in a step.
double samples_of_step(const Plan& plan);

}  // namespace sluice
