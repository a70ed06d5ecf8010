// Makes a candidate with a single plan, for the case that no choice is left open.
#pragma once

#include <functional>
#include <string>

#include "planning/candidate.hpp"

namespace sluice {

/// Makes a plan and simulates it. Returns no plan if a memory is too small, or if `plan` throws Infeasible.
Settled settled(const std::string& text, const std::function<Plan()>& plan);

/// Returns a candidate that offers only this plan.
Candidate only_candidate(const std::string& text, std::function<Plan()> plan);

}  // namespace sluice
