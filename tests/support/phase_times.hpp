// Finds the seconds of a phase in the steady state from an execution.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::test {

/// Returns scenarios/phased_ipu_pair.yaml with few batches, changed by the overrides.
Scenario ipu_pair(const std::vector<std::string>& overrides);

/// Returns scenarios/sharded_ipu_pair.yaml, which is the same question as scenarios/phased_ipu_pair.yaml without
/// `phases`, changed by the overrides.
Scenario ipu_pair_without_phases(const std::vector<std::string>& overrides);

/// Returns the mean time from the start of one phase to the start of the next phase, over `phases` phases in the middle
/// of the run. If `device` is given, only the phases on this device count.
double steady_phase(const Plan& plan, std::size_t phases, const std::string& device = "");

}  // namespace sluice::test
