// The plans of phased inference: one for each order of phases.
#pragma once

#include "planning/phased/phases.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

/// Returns the plans for every machine. They do not depend on the memories of the machine. The parameters must outlive
/// the result. Throws InputError at a key with a wrong value.
PlansForMachine phase_plans(const PolicyRequest& request, const Reader& parameters);

/// Returns the orders of phases that are compared (turns_to_compare()). The result is empty if there is no choice.
std::vector<PhaseTurns> open_turns(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
