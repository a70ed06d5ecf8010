// Describes phased inference as a program (program.hpp), and makes its plan.
#pragma once

#include "planning/phased/phases.hpp"

namespace sluice {

Draft list_phases(const PolicyRequest& request, const PhaseRules& rules);

}  // namespace sluice
