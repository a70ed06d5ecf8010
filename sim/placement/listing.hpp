// Turns a schedule into a plan with two pools and one compute stream. Synchronous moves are on a copy stream: they wait
// for kernels, and kernels wait for them. The moves of the copy engine are on another copy stream. A kernel may read or
// write bytes in slow memory over the link of the copy engine. In the plan, these bytes are flows on this link. Such
// flows and the engine's moves slow each other down, and predicted_seconds() does not count this. All actions are in
// the plan's prologue, because the kernels run only once.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity);

/// Simulates the plan of the schedule and returns the seconds of the run. Throws Infeasible if the plan ends in a
/// deadlock.
double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity);

}  // namespace sluice
