// The cuts that are compared if a scenario leaves the cut open.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

/// Returns the cuts that are compared if the scenario says `cut: auto`. The list of these cuts does not depend on the
/// machine's memory.
std::vector<Chosen<Cut>> open_cuts(const Scenario& scenario);

/// Returns the cut as a scenario writes it, such as "cut: by_weight, groups: 12".
std::string text_of(const Chosen<Cut>& cut);

}  // namespace sluice
