// The steady time of a phase, read from an execution.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice::test {

/// scenarios/phased_ipu_pair.yaml with few batches and overrides.
Scenario ipu_pair(const std::vector<std::string>& overrides);

/// scenarios/sharded_ipu_pair.yaml, the same without `phases`.
Scenario ipu_pair_without_phases(const std::vector<std::string>& overrides);

/// Mean time from one phase's start to the next one's, over `phases` phases in the middle of the
/// run; only of `device`, if it is given.
double steady_phase(const Plan& plan, std::size_t phases, const std::string& device = "");

}  // namespace sluice::test
