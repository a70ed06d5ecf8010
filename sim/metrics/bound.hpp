// Computes a lower bound of the makespan of every execution of a plan, and the resource that is the reason for this
// bound.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// The stream or link that is the reason for the bound. The own work of this stream or link is at least half of the
  /// bound. This work and the actions that must come before and after it take at least 99 % of the bound together. If
  /// several streams or links qualify, `resource` names the stream or link that works longest. The text "dependencies"
  /// means that no stream or link qualifies, because several streams or links must work in turn.
  std::string resource;
};

/// Returns the bound of a plan that has passed check(). Throws InternalError if the plan's waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
