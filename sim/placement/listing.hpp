// Turns a schedule into a plan with two pools and one compute stream. Synchronous moves are on a copy stream of their
// own, with waits in both directions. The moves of the copy engine are on another stream. When a kernel reads or writes
// over the link of the copy engine, these bytes are flows there. They slow down the engine's moves as much as the moves
// slow down the kernels; predicted_seconds() does not count this. The plan is for one run, and all its actions are in
// the prologue.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity);

/// Executes that plan and returns its seconds. Throws Infeasible when the plan blocks.
double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity);

}  // namespace sluice
