// Combines several iterations of the body into one.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the plan with a new body of `times` iterations of the old body. `times` must divide the number of
/// iterations. The execution of the plan does not change. The new plan has `times` copies of each action of the body,
/// and of each tensor that the body allocates. The `distance` of each wait and the `ahead` of each action are changed
/// to refer to the right copy. This copy may be in the same iteration of the new body, or in an earlier or later
/// iteration.
Plan unroll(const Plan& plan, std::int64_t times);

}  // namespace sluice
