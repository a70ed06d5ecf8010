// How many iterations of a plan's body show everything that can happen in later iterations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the most iterations over which a wait, an operand or the `ahead` of the action reaches.
inline std::int64_t reach_of_action(const Action& action) {
  std::int64_t reach = std::abs(action.ahead);
  for (const Wait& wait : action.waits) reach = std::max<std::int64_t>(reach, wait.distance);
  for (const Access& use : action.uses) reach = std::max<std::int64_t>(reach, use.distance);
  return reach;
}

/// Returns the number of iterations that a check of the plan replays (feasibility.hpp): two more than the most
/// iterations over which an action reaches.
inline std::int64_t iterations_to_replay(const Plan& plan) {
  std::int64_t reach = 0;
  for (const Action& action : plan.actions) reach = std::max(reach, reach_of_action(action));
  return std::min(plan.iterations, reach + 2);
}

}  // namespace sluice
