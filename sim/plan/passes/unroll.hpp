// Several iterations of the body written out as one.
#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace sluice {

/// The same plan with a body that is `times` iterations of the old one; `times` divides the
/// iterations. It executes as before, action by action: a wait of `distance` iterations ago, and
/// work `ahead`, now point to a copy in the same or in an earlier or later run of the body. A
/// tensor that the body allocates has an instance for each copy.
Plan unroll(const Plan& plan, std::int64_t times);

}  // namespace sluice
