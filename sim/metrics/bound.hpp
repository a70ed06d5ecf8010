// A lower bound of the makespan of every execution of a plan, and the resource that sets it.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// The stream or link whose work, with what must come before and after it, takes that long or up
  /// to 1 % less, and whose own work is at least half of it; among several the one that works
  /// longest. Or "dependencies": what several of them must do one after the other.
  std::string resource;
};

/// `plan` must have passed check(). Throws InternalError when its waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
