// Removes all overlap: the actions of a plan run one after the other.
#pragma once

#include "plan/plan.hpp"

namespace sluice {

/// Each action waits for the one that is listed before it. The makespan is then the sum of
/// everything.
void serialise(Plan& plan);

}  // namespace sluice
