// A lower bound of the makespan of every execution of a plan, and the resource that is the reason for it.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// A stream or link whose work, with what must come before and after it, takes that long or up to 1 % less,
  /// and whose own work is at least half of that; of several, the one that works longest. Otherwise it is
  /// "dependencies": several streams or links must work one after the other.
  std::string resource;
};

/// `plan` must have passed check(). Throws InternalError if its waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
