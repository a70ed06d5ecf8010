// Removes all overlap: the actions of a plan run one after the other.
#pragma once

#include "plan/plan.hpp"

namespace sluice {

/// Makes each action wait for the action that is listed before it. As a result, the makespan is the sum of the seconds
/// of all actions.
void serialise(Plan& plan);

}  // namespace sluice
