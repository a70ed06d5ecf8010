// A lower bound of the makespan of any execution of a plan, and what binds.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// The stream or link whose work, with what must come before and after it, takes that long or up
  /// to 1 % less, and whose own work is half of it or more; of several such the one that is
  /// at work longest. Or "dependencies": what several of them must do one after the other.
  std::string resource;
};

/// The plan has passed check(). Throws InternalError when its waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
