// The actions of phased inference: loads, computations and saves, phase by phase, and their waits.
#pragma once

#include "planning/phased/phases.hpp"

namespace sluice {

Draft list_phases(const PolicyRequest& request, const PhaseRules& rules);

}  // namespace sluice
