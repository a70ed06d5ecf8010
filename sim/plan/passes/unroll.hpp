// Unrolls a plan: one iteration of the new body does the work of several iterations of the old body.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the plan with a new body, which consists of `times` iterations of the old body. The number of iterations
/// must be a multiple of `times`. The run does not change. The new plan has `times` copies of each action of the body,
/// and of each tensor that the body allocates. Each `distance` and each `ahead` is changed. The new number leads to the
/// right copy, in the same iteration of the new body or in another iteration. The micro-batches of all copies have
/// different numbers.
Plan unroll(const Plan& plan, std::int64_t times);

}  // namespace sluice
