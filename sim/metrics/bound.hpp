// Computes a lower bound of the makespan that holds for every execution of a plan. Also finds the stream or link that
// is the reason for the bound.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// The stream or link that is the reason for the bound. Its own work is at least half of the bound. Some actions must
  /// come before and after this work. Together with these actions, the work takes at least 99 % of the bound. If
  /// several streams or links qualify, `resource` names the stream or link that works longest. If none qualifies, the
  /// text is "dependencies": several streams or links must work one after the other.
  std::string resource;
};

/// Returns the bound of a plan that has passed check(). Throws InternalError if the plan's waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
