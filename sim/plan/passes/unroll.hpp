// Combines several iterations of the body into one.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the plan with a new body that consists of `times` iterations of the old body. `times` must divide the
/// number of iterations. The execution of the plan does not change. The new body has `times` copies of each action.
/// Each `distance` of a wait and each `ahead` of an action is changed so that it refers to the right copy. This copy
/// may be in this iteration of the new body, or in an earlier or later iteration. A tensor that the body allocates has
/// one instance per copy.
Plan unroll(const Plan& plan, std::int64_t times);

}  // namespace sluice
