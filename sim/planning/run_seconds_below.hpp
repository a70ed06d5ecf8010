// Bounds of the seconds of a plan's run, and runs that end early if they take too long. A way of replicas is compared
// in several orders of its transfers, and most of them are slower than the best way so far.
#pragma once

#include "plan/plan.hpp"

namespace sluice {

/// Returns run_seconds() if they are below `worth`. Otherwise the result is `worth` or more, and is found much sooner.
double run_seconds_below(const Plan& plan, double worth);

/// Returns a lower bound of the seconds of the run, or 0 if it would take long to find one. If waits are added to the
/// plan, the bound still holds. It also holds with any sizes of the memories.
double least_seconds_of(const Plan& plan);

}  // namespace sluice
