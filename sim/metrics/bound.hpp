// Computes a lower bound of the makespan of every execution of a plan, and the resource that is the reason for this
// bound.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// The stream or link that is the reason for the bound. The own work of this stream or link is at least half of the
  /// bound. If the actions that must come before and after this work are added, the sum is at least 99 % of the bound.
  /// If several streams or links qualify, `resource` names the stream or link that works longest. If no stream or link
  /// qualifies, the text is "dependencies": several streams or links must work in turn.
  std::string resource;
};

/// Returns the bound of a plan that has passed check(). Throws InternalError if the plan's waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
