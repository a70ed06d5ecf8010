// Removes all overlap from a plan, so that its actions run one after the other.
#pragma once

#include "plan/plan.hpp"

namespace sluice {

/// Makes each action wait for the action that is listed before it. Then the makespan is the sum of the seconds of all
/// executions.
void serialise(Plan& plan);

}  // namespace sluice
