// A schedule as a plan with two pools and one compute stream. Synchronous moves are on their own
// copy stream, with waits in both directions; the moves of the copy engine are on another stream.
// Reads and writes of kernels over the link of the copy engine are flows there, which slow down its
// moves as much as the moves slow down the kernels. Predicted seconds do not include this.
// The plan is for one run, and all its actions are in the prologue.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity);

/// The executor's seconds for that plan. Throws Infeasible when the plan blocks.
double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity);

}  // namespace sluice
