// A lower bound of the makespan of every execution of a plan, and the resource that is the reason for it.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

struct Bound {
  double seconds = 0;
  /// The resource that is the reason for the bound. It is a stream or link whose own work is at least half of the
  /// bound. Its work, with what must come before and after, takes as long as the bound or up to 1 % less. If several
  /// resources qualify, it is the one that works longest. The text "dependencies" means that no resource qualifies,
  /// because several resources must work one after the other.
  std::string resource;
};

/// `plan` must have passed check(). Throws InternalError if its waits form a cycle.
Bound lower_bound(const Plan& plan);

}  // namespace sluice
