// Lists the actions of phased inference, phase by phase: loads, computations and saves. Adds their
// waits.
#pragma once

#include "planning/phased/phases.hpp"

namespace sluice {

Draft list_phases(const PolicyRequest& request, const PhaseRules& rules);

}  // namespace sluice
