// Writes out several iterations of the body as one.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace sluice {

/// The same plan with a body that consists of `times` iterations of the old one; `times` must
/// divide the iterations. It executes as before, action by action: a wait of `distance` iterations
/// ago, and work `ahead`, now refer to a copy in the same, an earlier or a later run of the body. A
/// tensor that the body allocates has an instance per copy.
Plan unroll(const Plan& plan, std::int64_t times);

}  // namespace sluice
