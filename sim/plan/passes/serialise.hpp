// Without overlap: the actions of a plan one after the other.
#pragma once

#include "plan/plan.hpp"

namespace sluice {

/// Each action waits for the one listed before it: no overlap at all. The makespan is then the sum
/// of everything.
void serialise(Plan& plan);

}  // namespace sluice
