// A schedule as a plan with two pools and one compute stream. Synchronous moves are on a copy
// stream of their own, with waits in both directions; those of the copy engine are on another one.
// The plan is for one run, and all of it is in the prologue.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity);

/// The executor's seconds for that plan. Throws Infeasible where the plan blocks.
double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity);

}  // namespace sluice
