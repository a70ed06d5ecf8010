// Further steps of a plan, aside: what a step takes once the first loads are paid and before the
// end comes, though few steps, or one, were asked. The replay runs the plan's body on. Seconds.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// A checked plan. None: it has no body, or its further steps block. Throws Interrupted on a
/// signal.
std::optional<double> further_step_s(const Plan& plan);

}  // namespace sluice
