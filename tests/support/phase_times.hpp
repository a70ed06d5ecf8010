// Executes a plan, and measures how many seconds a phase takes in the steady state.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::test {

/// Returns scenarios/phased_ipu_pair.yaml with 12 batches per step and 4 steps, changed by the overrides.
Scenario ipu_pair(const std::vector<std::string>& overrides);

/// Returns scenarios/sharded_ipu_pair.yaml, also with 12 batches per step and 4 steps, changed by the overrides. This
/// scenario has no phases: its policy is `sharded`.
Scenario ipu_pair_without_phases(const std::vector<std::string>& overrides);

/// Returns the mean of the seconds from the start of a phase to the start of the next phase, for `phases` phases in the
/// middle of the run. If `device` is given, only the phases on this device count.
double steady_phase(const Plan& plan, std::size_t phases, const std::string& device = "");

}  // namespace sluice::test
