// The cuts that are compared if a scenario leaves the cut open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

/// Returns the cuts that are compared if the scenario says `cut: auto`. The list of these cuts does not depend on the
/// machine's memory.
std::vector<Chosen<Cut>> open_cuts(const Scenario& scenario);

/// Returns the cut as a text such as "cut: by_weight, groups: 12", which CutModel and Plan have.
std::string text_of(const Chosen<Cut>& cut);

/// Returns the one of open_cuts() that has this text. If none has it, returns nothing.
std::optional<Chosen<Cut>> open_cut(const Scenario& scenario, const std::string& text);

}  // namespace sluice
