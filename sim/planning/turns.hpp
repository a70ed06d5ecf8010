// Makes transfers that share a link run one after the other (plan/passes/turns.hpp), in an order that a simulation
// finds.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {

/// Returns plans in which transfers take turns, in up to five orders. The first four come from a simulation of `plan`:
/// - The transfer that begins first, in an iteration in the middle of the run, comes first.
/// - The transfer whose data is needed first comes first.
/// - Transfers of one stream that begin about together come in a row, because each change to another stream costs a
///   latency.
/// - The transfer comes first whose first execution begins first. If replicas have different numbers of batches, the
///   replica with fewer batches may be many iterations ahead in the middle of the run. Then the first order delays the
///   others.
/// - The transfer whose data is needed first in the run with the fourth order comes first. In the simulation of `plan`,
///   transfers of several replicas slow each other down, and often begin and end at the same times.
/// Of equal orders, only one is returned. If the seconds of a plan are known, they are returned, too. The result is empty if no link is shared, or if `plan` ends in a deadlock.
/// The returned plans may end in a deadlock. Throws Interrupted.
std::vector<TimedPlan> in_turn(const Plan& plan);

}  // namespace sluice
