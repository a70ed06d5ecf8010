// Turns a schedule into a plan with two pools and one compute stream. Synchronous moves are on a copy stream: they
// wait for kernels, and kernels wait for them. The moves of the copy engine are on another copy stream. A kernel may
// read or write over the link of the copy engine. Its bytes are then flows on this link. These flows and the engine's
// moves slow each other down. predicted_seconds() does not count this slow-down. The plan is for one run, and all its
// actions are in the prologue.
#pragma once

#include "placement/schedule.hpp"

namespace sluice {

Plan plan_of(const PlacementQuestion& question, const PlacementSchedule& schedule,
             std::int64_t capacity);

/// Executes the plan of the schedule and returns its seconds. Throws Infeasible when the plan blocks.
double simulated_seconds(const PlacementQuestion& question, const PlacementSchedule& schedule,
                         std::int64_t capacity);

}  // namespace sluice
