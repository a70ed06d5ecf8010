// Makes a candidate with a single plan, for scenarios that leave no choice open.
#pragma once

#include <functional>
#include <string>

#include "planning/candidate.hpp"

namespace sluice {

/// Makes a plan with the function `plan`, and then simulates this plan. The result has no plan if a memory is too small
/// for it, or if `plan` throws Infeasible.
Settled settled(const std::string& text, const std::function<Plan()>& plan);

/// Returns a candidate with a single plan: the plan that `plan` makes.
Candidate only_candidate(const std::string& text, std::function<Plan()> plan);

}  // namespace sluice
