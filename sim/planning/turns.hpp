// Makes transfers that share a link run one after the other (plan/passes/turns.hpp), in an order that a simulation
// finds.
#pragma once

#include <optional>
#include <vector>

#include "planning/run_seconds.hpp"

namespace sluice {

/// What is known about the transfers of a plan.
struct Turns {
  /// The fastest plan in which transfers take turns, with its seconds. Empty if no link is shared, or if the given plan
  /// or all orders end in a deadlock.
  std::optional<TimedPlan> fastest = {};
  /// The simulated seconds of the given plan, in which transfers use a link at the same time, if they are known.
  std::optional<double> together_s = {};
};

/// Tries up to five orders in which transfers take turns. The first four come from a simulation of `plan`:
/// - The transfer that begins first, in an iteration in the middle of the run, comes first.
/// - The transfer whose data is needed first comes first.
/// - Transfers of one stream that begin about together come in a row, because each change to another stream costs a
///   latency.
/// - The transfer comes first whose first execution begins first. If replicas have different numbers of batches, the
///   replica with fewer batches may be many iterations ahead in the middle of the run. Then the first order delays the
///   others.
/// - The transfer whose data is needed first in the run with the fourth order comes first. In the simulation of `plan`,
///   transfers of several replicas slow each other down, and often begin and end at the same times.
/// Throws Interrupted.
Turns in_turn(const Plan& plan);

/// Returns a plan for each of the orders that in_turn() tries, also for those that end in a deadlock. Throws
/// Interrupted.
std::vector<Plan> orders_in_turn(const Plan& plan);

}  // namespace sluice
