// A schedule as a plan with two pools: one compute stream; synchronous moves on a copy stream of
// their own, with waits both ways; the copy engine's on another one. One run, all of it in the
// prologue.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity);

/// What the executor says of that plan. Throws Infeasible where it blocks.
double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity);

}  // namespace sluice
