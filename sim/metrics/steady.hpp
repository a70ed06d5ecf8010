// The steady state of an execution: what one step takes once the pipeline is filled, and how many
// samples that is a second. Seconds.
#pragma once

#include <optional>

#include "metrics/totals.hpp"

namespace sluice {

/// Seconds of a step in the steady state: those of further steps, where somebody ran them (`sluice
/// run` does), or else of the second half of the steps asked, from the middle one's completion to
/// the last one's, and no less than the work of one step on its busiest stream or link. None: a
/// single step, or less, was run.
std::optional<double> steady_step_s(const Totals& totals);

/// When the steps of a run end, for who wants nothing else of it: of an execution in which nothing
/// is left out.
class StepEnds final : public Sink {
 public:
  explicit StepEnds(const Plan& plan);
  void span(const Span& span) override;
  void memory(const MemoryEvent&) override {}

  std::int64_t middle() const { return middle_; }  ///< as Totals has it
  std::optional<double> middle_complete() const { return middle_complete_; }
  std::optional<double> last_complete() const { return last_complete_; }

 private:
  const Plan& plan_;
  std::int64_t middle_, last_;  ///< iterations
  std::optional<double> middle_complete_, last_complete_;
};
/// Seconds of a step in the second half of the steps that were run, as above.
std::optional<double> steady_step_s(const Plan& plan, const StepEnds& ends);

/// Samples whose answer is complete in a step.
double samples_of_step(const Plan& plan);

}  // namespace sluice
