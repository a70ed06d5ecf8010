// A scenario as a question of placement: one micro-batch through all layers, forward, and in
// training backward and through the update; each pass of a layer is a kernel, and each tensor that
// is on the device for it may lie in either memory.
#pragma once

#include <string>

#include "scenario/scenario.hpp"
#include "study/placement/memories.hpp"

namespace sluice {

/// Weights, optimizer state and caches stay; inputs are given. The policy, its cut and its fates
/// have no say: nothing is computed twice or left out. Throws InputError.
PlacementProblem placement_problem(const Scenario& scenario, const TwoMemories& memories);

}  // namespace sluice
