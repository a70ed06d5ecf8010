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

/// Samples whose answer is complete in a step.
double samples_of_step(const Plan& plan);

}  // namespace sluice
